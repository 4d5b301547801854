"""A tiny Llama with Hugging Face's Trainer on random tokens; torchrun or launch.py starts one process a worker (gloo)."""
import argparse
import os
import tempfile

import torch
import transformers

import howmany
from data import limit

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=24)
parser.add_argument("--steps", type=int, default=14)
parser.add_argument("--to", default="-")
parser.add_argument("--plain", action="store_true", help="do not record: howmany bench reads the Trainer's own output")
options = parser.parse_args()

torch.set_num_threads(1)
n, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))


class Limit(transformers.TrainerCallback):
    """Moves this process to the control group of its node after the first steps."""

    def on_step_end(self, args, state, control, **_):
        if state.global_step == 2:
            limit(rank)


config = transformers.LlamaConfig(vocab_size=1024, hidden_size=96, intermediate_size=256, num_hidden_layers=2,
                                  num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=64)
model = transformers.LlamaForCausalLM(config)
random = torch.Generator().manual_seed(1)
rows = torch.randint(0, config.vocab_size, (options.batch * options.steps, 64), generator=random)
data = [{"input_ids": row, "labels": row} for row in rows]
folder = tempfile.TemporaryDirectory()
settings = transformers.TrainingArguments(
    output_dir=folder.name, max_steps=options.steps, per_device_train_batch_size=options.batch // n, logging_steps=1,
    report_to=[], save_strategy="no", use_cpu=True, ddp_backend="gloo" if n > 1 else None, disable_tqdm=True)
recorder = [] if options.plain else [howmany.callbacks.HuggingFace(to=options.to)]
trainer = transformers.Trainer(model=model, args=settings, train_dataset=data, callbacks=[*recorder, Limit()])
trainer.train()

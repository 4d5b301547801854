"""A tiny Llama with Hugging Face's Trainer on random tokens; torchrun starts one process a worker (gloo, CPU)."""
import argparse
import os
import tempfile

import torch
import transformers

import howmany

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=24)
parser.add_argument("--steps", type=int, default=12)
options = parser.parse_args()

torch.set_num_threads(1)
n = int(os.environ.get("WORLD_SIZE", "1"))
config = transformers.LlamaConfig(vocab_size=2048, hidden_size=128, intermediate_size=352, num_hidden_layers=4,
                                  num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=128)
model = transformers.LlamaForCausalLM(config)
random = torch.Generator().manual_seed(1)
rows = torch.randint(0, config.vocab_size, (options.batch * options.steps, 128), generator=random)
data = [{"input_ids": row, "labels": row} for row in rows]
settings = transformers.TrainingArguments(
    output_dir=tempfile.mkdtemp(), max_steps=options.steps, per_device_train_batch_size=options.batch // n, logging_steps=1,
    report_to=[], save_strategy="no", use_cpu=True, ddp_backend="gloo" if n > 1 else None, disable_tqdm=True)
trainer = transformers.Trainer(model=model, args=settings, train_dataset=data,
                               callbacks=[howmany.callbacks.HuggingFace(to="-")])
trainer.train()

"""Recorders on one GPU: a Llama of 8 layers in bf16 with a loop of its own, Hugging Face's Trainer, Lightning and Accelerate.

Prints what each recorder saw, how long a step takes with and without a recorder, and what a plan from the model's sheet
predicts without any run: gpu_recorders.py MACHINE, where MACHINE is that GPU in the catalog. Nothing is downloaded; tokens are
random.
"""
import os
import statistics
import sys
import tempfile
import time

import torch
import transformers

import howmany

BATCH, TOKENS, STEPS = 8, 1024, 40
store = os.path.join(tempfile.mkdtemp(), "runs.db")


def llama():
    torch.manual_seed(1)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(
        vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16,
        num_key_value_heads=16, max_position_embeddings=TOKENS)).to("cuda", torch.bfloat16)


def batches():
    torch.manual_seed(2)
    for _ in range(STEPS):
        rows = torch.randint(0, 32000, (BATCH, TOKENS), device="cuda")
        yield {"input_ids": rows, "labels": rows}


def train(model, optimizer, batch):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


def own_loop(recorded):
    """Seconds of the whole loop, after a warm-up."""
    model = llama()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for batch in list(batches())[:5]:
        train(model, optimizer, batch)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    if recorded:
        with howmany.callbacks.torch(model, to=store, batch=BATCH) as run:
            for batch in batches():
                run.step(loss=train(model, optimizer, batch))
            torch.cuda.synchronize()
            seconds = time.perf_counter() - begin
        return seconds, run
    for batch in batches():
        train(model, optimizer, batch)
    torch.cuda.synchronize()
    return time.perf_counter() - begin, None


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return BATCH * STEPS

    def __getitem__(self, index):
        row = torch.randint(0, 32000, (TOKENS,))
        return {"input_ids": row, "labels": row}


def trainer():
    settings = transformers.TrainingArguments(output_dir=tempfile.mkdtemp(), max_steps=STEPS, per_device_train_batch_size=BATCH,
                                              bf16=True, report_to=[], save_strategy="no", disable_tqdm=True, logging_steps=10)
    transformers.Trainer(model=llama(), args=settings, train_dataset=Rows(),
                         callbacks=[howmany.callbacks.HuggingFace(to=store)]).train()


def lightning():
    try:
        import lightning.pytorch as pl
    except ImportError:
        import pytorch_lightning as pl

    class Module(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = llama()

        def training_step(self, batch, index):
            return self.model(**batch).loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=1e-4, fused=True)

    pl.Trainer(accelerator="gpu", devices=1, precision="bf16-true", max_steps=STEPS, logger=False, enable_checkpointing=False,
               enable_progress_bar=False, enable_model_summary=False, callbacks=[howmany.callbacks.Lightning(to=store)]).fit(
                   Module(), torch.utils.data.DataLoader(Rows(), batch_size=BATCH))


def accelerate():
    from accelerate import Accelerator

    accelerator = Accelerator(mixed_precision="bf16")
    model = llama()
    model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True),
                                                   torch.utils.data.DataLoader(Rows(), batch_size=BATCH))
    for batch in howmany.callbacks.accelerate(accelerator, loader, to=store):
        train(model, optimizer, batch)


plain = [own_loop(False)[0] for _ in range(3)]
recorded = [own_loop(True) for _ in range(3)]
mean = statistics.median(seconds for seconds, _ in recorded) / STEPS
print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, howmany {howmany.__version__}, Python {sys.version.split()[0]}")
print(f"a step: {1e3 * statistics.median(plain) / STEPS:.3f} ms without a recorder, {1e3 * mean:.3f} ms with one")
job = recorded[0][1].sheet(precision="bf16")
point = howmany.plan(job, on=sys.argv[1], n=[1]).curve[0]
print(f"sheet: {job['network']['published']} parameters; plan on {sys.argv[1]}: {1e3 * point.time_s:.1f} ms "
      f"({1e3 * point.low_s:.1f} to {1e3 * point.high_s:.1f} ms), measured {1e3 * mean:.1f} ms")
for step in (trainer, lightning, accelerate):
    step()
columns = ("framework", "job", "n", "batch", "micro_batch", "precision", "parameters", "device", "iterations", "seconds", "status")
for run in howmany.Store(store).runs(sort="id"):
    seen = run.to_dict()
    print({name: seen.get(name) for name in columns if seen.get(name) is not None})

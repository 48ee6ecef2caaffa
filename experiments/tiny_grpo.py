"""GRPO on the CPU: a tiny vision-language model with random weights learns from ConceptWorld's images.

    pip install "trl>=1,<2" datasets pillow
    python experiments/tiny_grpo.py --steps 40

Nothing is downloaded: the tokenizer knows the words of the prompt and no others, the network has some fifty thousand
weights. In so few steps it learns to answer at all: one sees that rows, pictures and reward fit the trainer.
"""

import argparse
import json
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import recombine as rc

TEXT = "Name the class of the image Answer with one of red blue mixed"
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part is string %}{{ part }}{% elif part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}</s>{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def model_and_processor() -> tuple[Any, Any]:
    """A LLaVA of random weights, and what prepares its inputs."""
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        PreTrainedTokenizerFast,
    )

    special = ["<pad>", "<s>", "</s>", "<unk>", "<image>"]
    words = ["user", "assistant", *TEXT.split(), ":", ",", ".", " ", "\n"]
    known = {word: place for place, word in enumerate(dict.fromkeys([*special, *words]))}
    tokenizer = Tokenizer(models.WordLevel(known, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+|\s|[^\w\s]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
    fast.add_special_tokens({"additional_special_tokens": ["<image>"]})
    pixels = {"height": 32, "width": 32}
    eye = CLIPImageProcessor(size=pixels, crop_size=pixels, do_center_crop=False)
    processor = LlavaProcessor(
        image_processor=eye,
        tokenizer=fast,
        patch_size=8,
        vision_feature_select_strategy="default",
        chat_template=TEMPLATE,
        image_token="<image>",
        num_additional_image_tokens=1,
    )
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(0)
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(image_size=32, patch_size=8, projection_dim=32, **small),
        text_config=LlamaConfig(
            vocab_size=len(known),
            num_key_value_heads=2,
            max_position_embeddings=2048,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            **small,
        ),
        image_token_index=known["<image>"],
        image_seq_length=16,
    )
    return LlavaForConditionalGeneration(config), processor


def dataset(rows: int, seed: int) -> Any:
    """So many of the endless images, as TRL takes them."""
    from datasets import load_dataset

    from recombine.benchmarks import get
    from recombine.harness.exports import Made, export

    endless = rc.Endless("concept-world", ["sequences"], seed=seed, render="images")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "trl"
        export("trl", islice(endless, rows), out, Made(get("concept-world"), out, {}, seed))
        return load_dataset("parquet", data_files=str(out / "train.parquet"), split="train", cache_dir=folder).map(
            lambda row: row, keep_in_memory=True
        )


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--steps", type=int, default=40)
    read.add_argument("--rows", type=int, default=480)
    read.add_argument("--seed", type=int, default=0)
    asked = read.parse_args()
    from transformers import set_seed
    from trl import GRPOConfig, GRPOTrainer

    from recombine.harness.versions import need

    version = need("trl")
    set_seed(asked.seed)
    model, processor = model_and_processor()
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    with tempfile.TemporaryDirectory() as folder:
        settings = GRPOConfig(
            output_dir=folder,
            max_steps=asked.steps,
            per_device_train_batch_size=16,
            num_generations=8,
            max_completion_length=1,
            learning_rate=3e-3,
            lr_scheduler_type="constant",
            logging_steps=1,
            disable_tqdm=True,
            seed=asked.seed,
            save_strategy="no",
            report_to="none",
            use_cpu=True,
        )
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=rc.reward,
            args=settings,
            train_dataset=dataset(asked.rows, asked.seed),
            processing_class=processor,
        )
        trainer.train()
    logged = [one for one in trainer.state.log_history if "reward" in one]
    moved = sum(bool((value != before[name]).any()) for name, value in model.named_parameters())
    print(
        json.dumps(
            {
                "trl": version,
                "steps": trainer.state.global_step,
                "weights": sum(one.numel() for one in model.parameters()),
                "tensors": len(before),
                "moved": moved,
                "rewards": [round(float(one["reward"]), 4) for one in logged],
                "unreadable": [round(float(one["unreadable"]), 4) for one in logged if "unreadable" in one],
            }
        )
    )


if __name__ == "__main__":
    main()

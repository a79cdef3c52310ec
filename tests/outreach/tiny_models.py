"""Stable Diffusion models of a few kilobytes, saved like real models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SIGNAL, STEADY = 10.0, 1000.0  # see mirror_vae


def write_model(folder: Path, *, sdxl: bool = False, mirror: bool = False) -> Path:
    """Write a folder of weights with its two ControlNets inside.

    Parameters
    ----------
    sdxl : bool
        Whether to write Stable Diffusion XL instead of 1.5.
    mirror : bool
        Whether the autoencoder returns its input, so that a diffusion of almost no strength
        returns the picture. Otherwise its weights are random, with the real shape.
    """
    import diffusers
    import torch

    torch.manual_seed(1)
    text = text_encoder()
    width = text.config.hidden_size
    unet = diffusers.UNet2DConditionModel(
        **network(width, sdxl=sdxl),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D", "UpBlock2D"),
        sample_size=64,
        out_channels=4,
    )
    parts: dict[str, Any] = {
        "vae": mirror_vae() if mirror else random_vae(),
        "text_encoder": text,
        "tokenizer": tokenizer(folder.parent / "tokenizer"),
        "unet": unet,
        # A gentle start, so that little strength means little noise.
        "scheduler": diffusers.DDIMScheduler(
            beta_start=1e-5,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            clip_sample=False,
            steps_offset=1,
        ),
    }
    if sdxl:
        parts |= {
            "text_encoder_2": text_encoder(projection=True),
            "tokenizer_2": parts["tokenizer"],
        }
        pipeline = diffusers.StableDiffusionXLPipeline(**parts, add_watermarker=False)
    else:
        pipeline = diffusers.StableDiffusionPipeline(
            **parts, safety_checker=None, feature_extractor=None, requires_safety_checker=False
        )
    pipeline.save_pretrained(folder)
    for kind in ("depth", "coast"):
        control = diffusers.ControlNetModel(
            **network(width, sdxl=sdxl), conditioning_embedding_out_channels=steps_of(mirror)
        )
        wake(control)
        control.save_pretrained(folder / f"controlnet_{kind}")
    return folder


def steps_of(mirror: bool) -> tuple[int, ...]:
    """Return the channels of the image encoder of a ControlNet; later steps halve the image."""
    return (4,) if mirror else (4, 4, 4, 4)


def wake(control: Any) -> None:
    """Change the last layers of a new ControlNet, which are zero at first."""
    import torch

    for layer in [*control.controlnet_down_blocks, control.controlnet_mid_block]:
        torch.nn.init.normal_(layer.weight, std=0.3)
    torch.nn.init.normal_(control.controlnet_cond_embedding.conv_out.weight, std=0.3)


def network(width: int, *, sdxl: bool) -> dict[str, Any]:
    """Return the size of a UNet and of its ControlNets."""
    own: dict[str, Any] = {
        "in_channels": 4,
        "down_block_types": ("DownBlock2D", "DownBlock2D", "CrossAttnDownBlock2D"),
        "block_out_channels": (4, 8, 8),
        "layers_per_block": 1,
        "norm_num_groups": 4,
        "attention_head_dim": 4,
        "cross_attention_dim": 2 * width if sdxl else width,
    }
    if sdxl:
        own |= {
            "addition_embed_type": "text_time",
            "addition_time_embed_dim": 8,
            "projection_class_embeddings_input_dim": 6 * 8 + width,
        }
    return own


def text_encoder(*, projection: bool = False) -> Any:
    """Return a CLIP text model."""
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    config = CLIPTextConfig(
        vocab_size=514,
        hidden_size=16,
        intermediate_size=16,
        projection_dim=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=77,
        bos_token_id=512,
        eos_token_id=513,
        pad_token_id=513,
    )
    return (CLIPTextModelWithProjection if projection else CLIPTextModel)(config)


def tokenizer(folder: Path) -> Any:
    """Return a CLIP tokenizer with one token per byte."""
    from transformers import CLIPTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    shown = [
        chr(byte if chr(byte).isprintable() and byte != 0x20 else byte + 256) for byte in range(256)
    ]
    words = [*shown, *(f"{letter}</w>" for letter in shown), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    return CLIPTokenizer.from_pretrained(folder, model_max_length=77)


def random_vae() -> Any:
    """Return an autoencoder with random weights and 8 pixels per latent cell, as in real models."""
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(4,) * 4,
        norm_num_groups=2,
        latent_channels=4,
    )


def mirror_vae() -> Any:
    """Return an autoencoder that returns its input, with one pixel per latent cell.

    All weights are zero except one path per colour. The signal is added to a constant at which the
    activation is linear. Its group of channels also contains its negative and two much larger
    constants, so that the normalisation of the group changes it by at most 0.0001.
    """
    import torch
    from diffusers import AutoencoderKL

    vae = AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",),
        up_block_types=("UpDecoderBlock2D",),
        block_out_channels=(12,),
        layers_per_block=1,
        norm_num_groups=3,
        latent_channels=4,
        scaling_factor=1.0,
        use_quant_conv=False,
        use_post_quant_conv=False,
        mid_block_add_attention=False,
    )
    spread = ((SIGNAL**2 + STEADY**2) / 2) ** 0.5
    with torch.no_grad():
        for value in vae.parameters():
            value.zero_()
        for side in (vae.encoder, vae.decoder):
            for colour in range(3):
                first = 4 * colour
                side.conv_in.weight[first, colour, 1, 1] = 1
                side.conv_in.weight[first + 1, colour, 1, 1] = -1
                side.conv_in.bias[first : first + 4] = torch.tensor(
                    [SIGNAL, -SIGNAL, STEADY, -STEADY]
                )
                side.conv_norm_out.weight[first] = spread
                side.conv_out.weight[colour, first, 1, 1] = 1
                side.conv_out.bias[colour] = -SIGNAL
        vae.encoder.conv_out.bias[4:] = -30  # log variance of the latents
    return vae

"""Writes a model of random weights, as small as llama.cpp takes one: tiny_model.py FILE"""

import sys

import gguf
import numpy

WIDTH, HEADS, FORWARD = 64, 4, 128
random = numpy.random.default_rng(4)
letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
special = ["<unk>", "<s>", "</s>"]
single_bytes = [f"<0x{byte:02X}>" for byte in range(256)]
words = ["\u2581" + letter for letter in letters] + letters
tokens = special + single_bytes + words
kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
kinds += [gguf.TokenType.BYTE] * len(single_bytes) + [gguf.TokenType.NORMAL] * len(words)

model = gguf.GGUFWriter(sys.argv[1], "llama")
model.add_context_length(8192)
model.add_embedding_length(WIDTH)
model.add_block_count(1)
model.add_feed_forward_length(FORWARD)
model.add_head_count(HEADS)
model.add_head_count_kv(HEADS)
model.add_rope_dimension_count(WIDTH // HEADS)
model.add_layer_norm_rms_eps(1e-5)
model.add_vocab_size(len(tokens))
model.add_file_type(gguf.LlamaFileType.ALL_F32)
model.add_tokenizer_model("llama")
model.add_tokenizer_pre("default")
model.add_token_list([token.encode() for token in tokens])
model.add_token_scores([0.0] * len(tokens))
model.add_token_types([int(kind) for kind in kinds])
model.add_bos_token_id(1)
model.add_eos_token_id(2)
model.add_unk_token_id(0)


def weights(name, rows, columns):
    values = random.standard_normal((rows, columns)) / columns**0.5
    model.add_tensor(f"{name}.weight", values.astype(numpy.float32))


weights("token_embd", len(tokens), WIDTH)
weights("output", len(tokens), WIDTH)
for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
    weights(f"blk.0.{name}", WIDTH, WIDTH)
weights("blk.0.ffn_gate", FORWARD, WIDTH)
weights("blk.0.ffn_up", FORWARD, WIDTH)
weights("blk.0.ffn_down", WIDTH, FORWARD)
for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
    model.add_tensor(f"{name}.weight", numpy.ones(WIDTH, numpy.float32))
model.write_header_to_file()
model.write_kv_data_to_file()
model.write_tensors_to_file()
model.close()

# The two that matter: `make demo` and `make test`. Each sets up all that it needs.

SHARED ?= ../shared
NEXTEST := $(shell cargo nextest --version 2>/dev/null)

.PHONY: demo test test-net check bench growth fuzz torture samples help need

demo: need        ## See what Antiphon does, in your terminal
	@echo "Building Antiphon. The first time this takes about two minutes."
	@cargo build --profile demo --package antiphon
	@target/demo/antiphon demo

test: check       ## All checks and tests
ifdef NEXTEST
	cargo nextest run --workspace
else
	cargo test --workspace --quiet
endif
	cargo build --release --package antiphon
	@if [ -x $(SHARED)/accept/run ]; then $(SHARED)/accept/run log && $(SHARED)/accept/run agents \
	   && $(SHARED)/accept/run documents && $(SHARED)/accept/run recorder && $(SHARED)/accept/run runtime \
	   && $(SHARED)/accept/run daily; \
	 else echo "skipped: the acceptance checks, which are not in this repository"; fi

# The version is fixed, so that the verdicts stay.
TYPESCRIPT := target/tsc/node_modules/typescript
LITELLM := target/litellm/bin/litellm
LLAMA := target/llama/llama-server

test-net: need    ## Documents by the standards' own TypeScript, our JSON by its types, agents with LiteLLM and llama.cpp (needs npm, Python and the network)
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or later."; exit 1; }
	@[ -d $(TYPESCRIPT) ] || npm install --no-audit --no-fund --silent --prefix target/tsc typescript@5.9.3
	@[ -x $(LITELLM) ] || { python3 -m venv target/litellm && target/litellm/bin/pip install --quiet 'litellm[proxy]==1.106.2'; } \
	  || { rm -rf target/litellm; echo "skipped: LiteLLM cannot be installed"; }
	@[ -x $(LLAMA) ] || sh xtask/llama.sh target/llama || { rm -rf target/llama; echo "skipped: llama.cpp cannot be built"; }
	ANTIPHON_TYPESCRIPT=$(TYPESCRIPT) \
	  ANTIPHON_LITELLM=$$(ls $(LITELLM) 2>/dev/null) ANTIPHON_LLAMA=$$(ls $(LLAMA) 2>/dev/null) \
	  cargo test --package antiphon --test it -- --nocapture letter:: json::typescript:: chat::litellm:: chat::llama::

check: need       ## Format, lints, the repository's own rules, documentation
	cargo fmt --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo xtask tidy
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet

bench: need       ## Speed, beside what cannot be beaten
	cargo bench --quiet --package antiphon-journal --bench journal
	cargo bench --quiet --package antiphon-redact --bench redact
	@cargo build --release --quiet --package antiphon
	@cargo run --release --quiet --package xtask -- startup
	@cargo run --release --quiet --package xtask -- counting
	@cargo run --release --quiet --package xtask -- library
	@cargo run --release --quiet --package xtask -- small
	@cargo run --release --quiet --package xtask -- shapes
	@cargo run --release --quiet --package xtask -- recording
	@cargo run --release --quiet --package xtask -- talking

growth: need      ## How the cost of a library grows with its bytes and its sessions
	@cargo build --release --quiet --package antiphon
	@cargo run --release --quiet --package xtask -- growth

FUZZ ?= -max_total_time=60

fuzz: need        ## A minute of fuzzing for each target (nightly Rust and cargo-fuzz)
	@cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked
	@for folder in crates/antiphon-formats/fixtures/*/*/; do \
	  corpus=fuzz/corpus/$$(basename $$(dirname $$folder) | tr - _); mkdir -p $$corpus; \
	  { cat $$folder/input.*; find $$folder -name '*.jsonl' ! -name 'input.*' \
	    -exec printf '\036' \; -exec cat {} \; ; } > $$corpus/$$(basename $$folder); done
	@for target in $$(cargo +nightly fuzz list); do mkdir -p fuzz/corpus/$$target; \
	  most=8192; \
	  case $$target in \
	    sse) printf 'event: ping\ndata: {"a": 1}\ndata: b\n\n: c\r\n\r\n' > fuzz/corpus/sse/ping;; \
	    log_read|draft|recover) cp samples/*.jsonl fuzz/corpus/$$target/;; \
	    detect) most='1048576 -len_control=0'; for input in crates/antiphon-formats/fixtures/*/*/input.*; do \
	      cp $$input fuzz/corpus/detect/$$(echo $$input | cut -d/ -f4,5 | tr / -); done;; \
	  esac; \
	  cargo +nightly fuzz run --sanitizer none $$target -- -max_len=$$most $(FUZZ) || exit 1; done

torture: need     ## Kill, cut and flip what keeps sessions; ROUNDS=n for more
	@cargo build --release --quiet --package antiphon
	@cargo run --release --quiet --package xtask -- torture

samples: need     ## Write the logs in samples/ from their drafts and casts
	cargo xtask samples

need:
	@command -v cargo >/dev/null || { \
	  echo "Rust is missing. Install it as rust-lang.org says (rustup), then run this again."; exit 1; }
	@command -v cc >/dev/null || { \
	  echo "A C compiler is missing (cc). Install gcc or clang, then run this again."; exit 1; }

help:             ## This list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

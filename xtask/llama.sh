#!/bin/sh
# Builds the server of llama.cpp and a model of random weights for it: llama.sh FOLDER
#
# No package of a registry has the server as a program, but llama-cpp-python brings its source code.
# CMake and Ninja come from PyPI as well. It takes about six minutes on two cores.
set -e
python3 -m venv "$1/python"
"$1/python/bin/pip" install --quiet cmake==4.4.4 ninja==1.13.2 gguf==0.19.0
"$1/python/bin/pip" download --quiet --no-deps --no-binary llama-cpp-python --dest "$1" llama-cpp-python==0.3.36
tar -xzf "$1"/llama_cpp_python-0.3.36.tar.gz -C "$1"
PATH="$PWD/$1/python/bin:$PATH"
cmake -S "$1"/llama_cpp_python-0.3.36/vendor/llama.cpp -B "$1/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1 \
  -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF \
  -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF >/dev/null
cmake --build "$1/build" --target llama-server >/dev/null
"$1/python/bin/python" crates/antiphon/tests/it/chat/tiny_model.py "$1/tiny.gguf"
mv "$1/build/bin/llama-server" "$1/llama-server"
rm -rf "$1/build" "$1"/llama_cpp_python-0.3.36*

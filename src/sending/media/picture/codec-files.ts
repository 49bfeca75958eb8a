/** The WebAssembly of the codecs. Their packages are written for browsers, which load it from an address; here it is in a file. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { resolve } = createRequire(import.meta.url);

/** @param path of a file in a package, such as `@jsquash/png/codec/pkg/squoosh_png_bg.wasm` */
export function codecFile(path: string): Buffer {
  return readFileSync(resolve(path));
}

/**
 * Options of a codec that was compiled with Emscripten. Its warnings are about files of customers, and are not written to
 * the log.
 */
export function emscriptenOptions(path: string, onWarning: (line: string) => void = () => {}) {
  return { wasmBinary: codecFile(path), print() {}, printErr: onWarning };
}

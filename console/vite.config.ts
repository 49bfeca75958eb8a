/** The build of the console: one entry, a chunk for each page, files compressed beforehand for the service to send. */
import { readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const openapi = new URL("../openapi.json", import.meta.url);
const OPERATION = "operation:";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** `import parameters from "operation:listMessages"`: the query parameters of an operation, as the contract lists them. */
function operationParameters(): Plugin {
  return {
    name: "operation-parameters",
    resolveId: (id) => (id.startsWith(OPERATION) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${OPERATION}`)) return undefined;
      const operationId = id.slice(OPERATION.length + 1);
      const { paths } = JSON.parse(readFileSync(openapi, "utf8")) as {
        paths: Record<string, Record<string, { operationId?: string; parameters?: Parameter[] }>>;
      };
      const operation = Object.values(paths)
        .flatMap((methods) => Object.values(methods))
        .find((one) => one.operationId === operationId);
      if (operation === undefined) throw new Error(`openapi.json has no operation ${operationId}`);
      const query = (operation.parameters ?? []).filter((one) => one.in === "query");
      return `export default ${JSON.stringify(query.map(({ name, description, schema }) => ({ name, description, ...schema })))}`;
    },
  };
}

/** Lets the browser load the font with the page, so that the first paint has it. */
function fontAhead(): Plugin {
  return {
    name: "font-ahead",
    transformIndexHtml: {
      order: "post",
      handler(_html, { bundle = {} }) {
        const font = Object.keys(bundle).find((name) => /inter-latin-wght.*woff2$/.test(name));
        if (font === undefined) return [];
        const attrs = {
          rel: "preload",
          as: "font",
          type: "font/woff2",
          href: `/console/${font}`,
          crossorigin: true,
        };
        return [{ tag: "link", attrs, injectTo: "head" }];
      },
    },
  };
}

/** Writes each file of the build a second and third time, compressed as small as it gets. */
function compressedFiles(): Plugin {
  return {
    name: "compressed-files",
    apply: "build",
    async writeBundle({ dir = "dist" }) {
      const names = await readdir(dir, { recursive: true });
      const texts = names.filter((name) => /\.(js|css|svg)$/.test(name)).map((name) => join(dir, name));
      await Promise.all(
        texts.map(async (file) => {
          const content = await readFile(file);
          const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
          await writeFile(`${file}.br`, await promisify(brotliCompress)(content, quality));
          await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
        }),
      );
    },
  };
}

export default defineConfig({
  base: "/console/",
  plugins: [react(), tailwind(), operationParameters(), fontAhead(), compressedFiles()],
  resolve: { conditions: ["posthaste-source", "module", "browser", "production"] },
  build: {
    target: "es2022",
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": "http://127.0.0.1:8080" } },
});

/** The build of the console: one entry, a chunk for each page, files compressed beforehand for the service to send. */
import { readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const openapi = new URL("../openapi.json", import.meta.url);

interface Operation {
  readonly operationId: string;
  readonly "x-permission"?: string | null;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
    readonly schema: Readonly<Record<string, unknown>>;
  }[];
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** Modules with facts of the contract; console/src/contract.d.ts says what each has. */
function contractModules(): Plugin {
  const isOurs = (id: string) => /^(operation:|schema:|operation-permissions$)/.test(id);
  return {
    name: "contract-modules",
    resolveId: (id) => (isOurs(id) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith("\0") || !isOurs(id.slice(1))) return undefined;
      const { paths, components } = JSON.parse(readFileSync(openapi, "utf8")) as Contract;
      const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
      const [kind, name = ""] = id.slice(1).split(":");
      if (kind === "operation-permissions") {
        const permissions = operations.map((one) => [one.operationId, one["x-permission"] ?? null] as const);
        return moduleOf(Object.fromEntries(permissions));
      }
      const fact =
        kind === "schema"
          ? components.schemas[name]
          : operations
              .find(({ operationId }) => operationId === name)
              ?.parameters?.filter((one) => one.in === "query")
              .map(({ name: parameter, description, schema }) => ({
                name: parameter,
                description,
                ...schema,
              }));
      if (fact === undefined) throw new Error(`openapi.json has no ${kind} ${name}`);
      return moduleOf(fact);
    },
  };
}

function moduleOf(value: unknown): string {
  return `export default ${JSON.stringify(value)}`;
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

export default defineConfig(({ command }) => {
  // A build is one for production, whatever the environment of the installation says.
  if (command === "build") process.env.NODE_ENV = "production";
  return {
    base: "/console/",
    // The service replaces it in each page it sends.
    html: { cspNonce: "__NONCE__" },
    plugins: [react(), tailwind(), contractModules(), fontAhead(), compressedFiles()],
    resolve: {
      conditions: ["posthaste-source", "module", "browser", "production"],
      // The grammar of HTML brings that of JavaScript, which is a fifth of the code editor and of no use in mail.
      alias: {
        "@codemirror/lang-javascript": fileURLToPath(new URL("src/parts/no-scripts.ts", import.meta.url)),
      },
    },
    build: {
      target: "es2022",
      cssTarget: ["chrome123", "firefox121", "safari17.5"],
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
    server: { proxy: { "/api": "http://127.0.0.1:8080" } },
  };
});

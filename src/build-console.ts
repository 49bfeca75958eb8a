/**
 * `npm run build -w console` builds the console, unless its build is that of the sources. `npm ci` calls it with `--install`: what
 * an installation cannot build, it leaves to the first start.
 */
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConsoleBuild } from "#platform/console/console-build.ts";

const isInstall = process.argv.includes("--install");
const build = new ConsoleBuild();
const { builder } = build;

/** The build is readable for every user: the service may run as another one than the installation. */
process.umask(0o022);

async function bundle(folder: string): Promise<void> {
  if (builder === undefined) throw new Error("Vite is not installed: run npm ci");
  const vite = (await import(pathToFileURL(builder).href)) as typeof import("vite");
  await vite.build({
    root: fileURLToPath(new URL("../console/", import.meta.url)),
    configLoader: "native",
    logLevel: "warn",
    build: { outDir: folder, emptyOutDir: true },
  });
}

try {
  if (builder !== undefined || !isInstall) await build.renew(bundle);
} catch (error) {
  process.stderr.write(
    `The console could not be built: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  if (!isInstall) process.exitCode = 1;
}

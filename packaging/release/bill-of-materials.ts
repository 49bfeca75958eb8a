/** The bill of materials of the package, in CycloneDX, by npm. */
import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const MOST_OUTPUT = 64 * 1024 ** 2;
const quiet = ["--offline", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"];

/**
 * npm makes it from a copy of package-lock.json that has only what the package depends on: with workspaces and development
 * dependencies it leaves out what these need, too.
 * @returns JSON
 */
export async function billOfMaterials(checkout: string): Promise<string> {
  const { name, version, description, license, dependencies, optionalDependencies, overrides } = JSON.parse(
    await readFile(join(checkout, "package.json"), "utf8"),
  );
  // Those that refer to a development dependency (`$typescript`) are about such dependencies.
  const ownOverrides = Object.entries(overrides).filter(([, value]) => !JSON.stringify(value).includes('"$'));
  const manifest = {
    ...{ name, version, description, license, dependencies, optionalDependencies },
    overrides: Object.fromEntries(ownOverrides),
  };
  const temporary = await mkdtemp(join(tmpdir(), "posthaste-bill-"));
  // npm names the bill after the folder.
  const folder = join(temporary, name);
  const inFolder = { cwd: folder, maxBuffer: MOST_OUTPUT };
  try {
    await mkdir(folder);
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    await copyFile(join(checkout, "package-lock.json"), join(folder, "package-lock.json"));
    await promisify(execFile)("npm", ["install", ...quiet], inFolder);
    const form = ["--sbom-format=cyclonedx", "--sbom-type=application"];
    return (await promisify(execFile)("npm", ["sbom", ...form, ...quiet], inFolder)).stdout;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

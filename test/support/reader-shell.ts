/**
 * The terminal of a reader who follows a guide: one bash for all blocks, so that variables of one block are there in the
 * next. A command that fails, and a call that the service refuses, ends it.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** `-f` of curl makes a refusal of the service an exit code, and the answer is shown nevertheless. */
const PRELUDE = `set -e -o pipefail
curl() { command curl --fail-with-body --show-error --silent "$@"; }
`;
const END = "the block has ended";

export class ReaderShell implements AsyncDisposable {
  readonly #bash: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #inPlaceOf: Readonly<Record<string, string>>;
  readonly #given: Readonly<Record<string, string>>;
  #errors = "";

  /**
   * @param url the service, in place of http://127.0.0.1:8080 in the blocks
   * @param given values of what a reader fills in (`KEY=efk_…`)
   * @param inPlaceOf other texts that are replaced, such as ports
   */
  constructor(options: {
    readonly url: string;
    readonly folder: string;
    readonly given: Readonly<Record<string, string>>;
    readonly inPlaceOf?: Readonly<Record<string, string>>;
    readonly env?: Readonly<Record<string, string>>;
  }) {
    this.#inPlaceOf = { "http://127.0.0.1:8080": options.url, ...options.inPlaceOf };
    this.#given = options.given;
    const { PATH = "" } = process.env;
    this.#bash = spawn("bash", { cwd: options.folder, env: { PATH, ...options.env } });
    this.#lines = createInterface({ input: this.#bash.stdout })[Symbol.asyncIterator]();
    this.#bash.stderr.on("data", (octets: Buffer) => {
      this.#errors += octets.toString();
    });
    this.#bash.stdin.write(PRELUDE);
  }

  /** Runs a block and returns what it printed. @throws if a command of it fails, with all that was printed */
  async run(block: string): Promise<string> {
    const filled = this.#fill(block);
    // What the last command printed may lack a line end.
    this.#bash.stdin.write(`${filled}\necho; echo ${END}\n`);
    const printed: string[] = [];
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error(`This block failed:\n${filled}\n${printed.join("\n")}\n${this.#errors}`);
      if (value === END) return printed.join("\n").trim();
      printed.push(value);
    }
  }

  #fill(block: string): string {
    const replaced = Object.entries(this.#inPlaceOf).reduce(
      (text, [shown, real]) => text.replaceAll(shown, real),
      block,
    );
    return replaced.replaceAll(/^([A-Z]+)=.*….*$/gm, (line, name: string) => {
      const value = this.#given[name];
      if (value === undefined) throw new Error(`no value for ${line}`);
      return `${name}=${value}`;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#bash.exitCode !== null) return;
    this.#bash.stdin.end();
    await once(this.#bash, "exit");
  }
}

/** Whether bash, curl and these tools are installed. */
export function hasReaderTools(...tools: readonly string[]): boolean {
  const isInstalled = (tool: string) => spawnSync("bash", ["-c", `command -v ${tool}`]).status === 0;
  return ["curl", ...tools].every(isInstalled);
}

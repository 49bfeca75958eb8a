/** A server of a benchmark in a separate process, which takes little CPU time from the process that measures. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface ForkedServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Starts a file of the benchmarks as a program, which sends its port when it listens.
 * @param url import.meta.url of the file
 * @param order sent to the program first, unless undefined
 */
export async function forkServer(url: string, order?: readonly string[]): Promise<ForkedServer> {
  const child = fork(fileURLToPath(url), { execArgv: [] });
  if (order !== undefined) child.send(order);
  const [port] = (await once(child, "message")) as [number];
  return {
    port,
    async [Symbol.asyncDispose]() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

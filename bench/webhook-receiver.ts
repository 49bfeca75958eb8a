/** A receiver of webhooks in a separate process, which answers 204 at once and does nothing else. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";

export interface FastReceiver extends AsyncDisposable {
  readonly url: string;
}

export async function startFastReceiver(): Promise<FastReceiver> {
  const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    async [Symbol.asyncDispose]() {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/** Reads requests that have a Content-Length, and answers each. */
function serve(socket: Socket): void {
  let rest = "";
  socket.setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: string) => {
    rest += chunk;
    let length = lengthOfFirst(rest);
    while (length !== null && rest.length >= length) {
      rest = rest.slice(length);
      socket.write("HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n");
      length = lengthOfFirst(rest);
    }
  });
}

/** The length of the first request with its body; null while its header is incomplete. */
function lengthOfFirst(text: string): number | null {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const length = /\ncontent-length: *(\d+)/i.exec(text.slice(0, end));
  return end + 4 + Number(length?.[1] ?? 0);
}

if (import.meta.main) {
  const server = createServer({ noDelay: true }, serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  process.send?.((server.address() as AddressInfo).port);
  process.on("disconnect", () => process.exit());
}

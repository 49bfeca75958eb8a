/** A receiver of webhooks in a separate process, which answers 204 at once and does nothing else. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type ForkedServer, forkServer } from "./forked-server.ts";

export async function startFastReceiver(): Promise<ForkedServer & { readonly url: string }> {
  const server = await forkServer(import.meta.url);
  return { ...server, url: `http://127.0.0.1:${server.port}/hooks` };
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

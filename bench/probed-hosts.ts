/**
 * Mail hosts for SMTP probes: one on each of many loopback addresses (Linux has all of 127.0.0.0/8), all on one port, in
 * a separate process. They accept every recipient whose name begins with `person`, and refuse all others.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type ForkedServer, forkServer } from "./forked-server.ts";

export interface ProbedHosts extends ForkedServer {
  readonly addresses: readonly string[];
}

export async function startProbedHosts(count: number): Promise<ProbedHosts> {
  const addresses = Array.from({ length: count }, (_, at) => `127.1.${at >> 8}.${at & 255}`);
  return { ...(await forkServer(import.meta.url, addresses)), addresses };
}

function serve(socket: Socket): void {
  let rest = "";
  socket.setEncoding("latin1");
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\r\n");
    rest = lines.pop() ?? "";
    socket.write(lines.map(answerTo).join(""));
    if (lines.some((line) => line.startsWith("QUIT"))) socket.end();
  });
  socket.write("220 mx.test ESMTP\r\n");
}

function answerTo(line: string): string {
  if (line.startsWith("EHLO")) return "250-mx.test\r\n250-PIPELINING\r\n250 8BITMIME\r\n";
  if (line.startsWith("RCPT") && !line.includes("<person")) return "550 5.1.1 No such user\r\n";
  return line.startsWith("QUIT") ? "221 2.0.0 Bye\r\n" : "250 2.0.0 Ok\r\n";
}

if (import.meta.main) {
  const [addresses] = (await once(process, "message")) as [string[]];
  let port = 0;
  for (const address of addresses) {
    const server = createServer({ noDelay: true }, serve).listen(port, address);
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }
  process.send?.(port);
  process.on("disconnect", () => process.exit());
}

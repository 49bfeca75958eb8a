/** A webhook receiver, on loopback unless a test needs it elsewhere: keeps the requests and answers as a test sets. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Arrived {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly arrived: Arrived[];
  /** Sends the response; 204 until a test replaces it. */
  answer: (response: ServerResponse, arrived: Arrived) => void;
  close(): Promise<void>;
}

export async function startReceiver(host = "127.0.0.1"): Promise<WebhookReceiver> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      arrived.push(one);
      receiver.answer(response, one);
    });
  });
  server.listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  const receiver: WebhookReceiver = {
    port,
    url: `http://${host}:${port}/hooks`,
    arrived,
    answer: answerWith(204),
    close,
    [Symbol.asyncDispose]: close,
  };
  return receiver;
}

export const answerWith =
  (status: number, headers: Readonly<Record<string, string>> = {}): WebhookReceiver["answer"] =>
  (response) =>
    response.writeHead(status, headers).end();

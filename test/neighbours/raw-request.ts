/**
 * HTTP requests of a misbehaving client: from a chosen loopback address (the service counts each as a separate network),
 * with a body that may be incomplete.
 */
import { connect, type Socket } from "node:net";

export interface RawRequest {
  readonly port: number;
  /** The client's IP address, in 127.0.0.0/8. */
  readonly from: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Number of bytes of the body to send; Content-Length announces all of them. Default: all. */
  readonly sentBytes?: number;
}

export interface RawAnswer {
  /** 0 if the connection ended without an answer. */
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

const END_OF_HEAD = "\r\n\r\n";

/** Sends one request on a new connection; resolves to the answer, or to status 0 if there is none. */
export function rawRequest(
  request: RawRequest,
  onSocket: (socket: Socket) => void = () => {},
): Promise<RawAnswer> {
  const { port, from, method = "POST", path, headers = {}, body = Buffer.alloc(0), sentBytes } = request;
  const fields = {
    Host: `127.0.0.1:${port}`,
    Connection: "close",
    "Content-Length": String(body.length),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let whole = Number.POSITIVE_INFINITY;
    socket.on("connect", () => {
      socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
      socket.write(body.subarray(0, sentBytes));
    });
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (whole === Number.POSITIVE_INFINITY) whole = lengthOf(Buffer.concat(chunks));
      if (bytes >= whole) socket.destroy();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(parseAnswer(Buffer.concat(chunks))));
    onSocket(socket);
  });
}

/** Length of the whole answer in octets; infinite until its head with Content-Length has arrived. */
function lengthOf(begin: Buffer): number {
  const head = begin.indexOf(END_OF_HEAD);
  const length = /\r\ncontent-length: *(\d+)/i.exec(begin.toString("latin1", 0, head + 2))?.[1];
  return head < 0 || length === undefined
    ? Number.POSITIVE_INFINITY
    : head + END_OF_HEAD.length + Number(length);
}

function parseAnswer(answer: Buffer): RawAnswer {
  const head = answer.indexOf(END_OF_HEAD);
  if (head < 0) return { status: 0, headers: "", body: "" };
  return {
    status: Number(answer.toString("latin1", 9, 12)),
    headers: answer.toString("latin1", 0, head).toLowerCase(),
    body: answer.toString("utf8", head + END_OF_HEAD.length),
  };
}

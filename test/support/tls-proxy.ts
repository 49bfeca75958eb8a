/** A proxy that ends TLS in front of the service, as operators put one there. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

const certificate = {
  key: readFileSync(new URL("rsa-key.pem", import.meta.url)),
  cert: readFileSync(new URL("rsa-certificate.pem", import.meta.url)),
};

export interface TlsProxy {
  /** https://localhost with a port. */
  readonly url: string;
  /** Passes requests on to this URL from now on. */
  passTo(url: string): void;
}

/** Its certificate is of no authority. It stops after the test file. */
export async function startTlsProxy(): Promise<TlsProxy> {
  let target = "";
  const server = createServer(certificate, (incoming, outgoing) => {
    const headers = { ...incoming.headers, "x-forwarded-proto": "https" };
    const passed = request(
      new URL(incoming.url ?? "/", target),
      { method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    passTo(url) {
      target = url;
    },
  };
}

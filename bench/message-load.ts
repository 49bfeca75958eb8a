/** The load of programs that send one small message after the other over HTTP. */
import type { HttpLoad } from "./http-load.ts";
import { htmlOfLength } from "./mail-body.ts";
import { type BenchSetup, senderDomain } from "./setup.ts";

/** @param url of the service @param length of the HTML, in characters */
export function messageLoad(
  { apiKey }: Pick<BenchSetup, "apiKey">,
  url: string,
  how: Pick<HttpLoad, "connections" | "seconds" | "warmUpSeconds">,
  length = 1_000,
): HttpLoad {
  return {
    port: Number(new URL(url).port),
    path: "/api/v1/emails/send",
    headers: { "X-API-Key": apiKey },
    body: JSON.stringify({
      to: "user00000000@example.test",
      from_email: `shop@${senderDomain}`,
      subject: "Your order 00000000",
      body: htmlOfLength(length),
    }),
    ...how,
  };
}

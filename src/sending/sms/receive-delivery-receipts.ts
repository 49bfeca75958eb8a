/**
 * Receives delivery receipts of HTTP gateways: POST `{ "status": "delivered" | "failed", "detail": … }` to the receipt_url
 * of the message. The signed URL is the authorization. Repeated receipts have no effect.
 */
import type { FastifyInstance } from "fastify";
import { insertReceipts } from "#delivery/sms/delivery-receipts-store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid, notFound } from "#platform/errors.ts";
import { parseJsonBody } from "#platform/http/request/json-body.ts";
import { utf8Text } from "#platform/http/request/json-reader.ts";
import { takeBodies } from "#platform/http/request/read-body.ts";
import type { PurposeKeys } from "#platform/secrets/secrets.ts";
import { RECEIPT_PATH, readReceiptToken } from "./receipt-link.ts";

const LONGEST_DETAIL = 200;
/** A receipt has a few hundred bytes. */
const MOST_BYTES = 64 * 1024;
const MOST_ELEMENTS = 1_000;

export interface ReceiptPageDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly keys: PurposeKeys;
  /** The name of the HTTP gateway (delivery/sms/gateway-settings.ts). */
  readonly gateway: string;
}

export function registerSmsReceipts(
  server: FastifyInstance,
  { db, clock, keys, gateway }: ReceiptPageDeps,
): void {
  server.register(async (pages) => {
    // Other fields are ignored, even a number with more digits than a double can hold.
    takeBodies(
      pages,
      "application/json",
      (body, request) => parseJsonBody(utf8Text(request, body), { takesAnyNumber: true }, MOST_ELEMENTS),
      MOST_BYTES,
    );
    pages.post<{ Params: { "*": string } }>(`${RECEIPT_PATH}*`, async ({ params, body }, reply) => {
      const named = keys.read((key) => readReceiptToken(params["*"], key));
      if (named === null) throw notFound("SMS");
      await insertReceipts(db, [{ gateway, ...named, ...readReceipt(body) }], clock.now());
      return reply.code(204).send();
    });
  });
}

function readReceipt(body: unknown): { status: "delivered" | "failed"; detail: string } {
  const given = typeof body === "object" && body !== null ? body : {};
  const status = "status" in given ? given.status : undefined;
  if (status !== "delivered" && status !== "failed") {
    throw invalid({ field: "status", message: "status must be delivered or failed" });
  }
  const detail = "detail" in given && typeof given.detail === "string" ? given.detail : status;
  return { status, detail: detail.slice(0, LONGEST_DETAIL).toWellFormed() };
}

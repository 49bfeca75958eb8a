// node send-http.mjs ada@example.com 1042
import { setTimeout } from "node:timers/promises";

const { POSTHASTE_URL = "http://127.0.0.1:8080", POSTHASTE_KEY } = process.env;
const [to, order] = process.argv.slice(2);
const PAUSES = [1, 5, 30];
const TEMPORARY = [409, 429, 502, 503, 504];

/** Sends a mail and resolves to its id. Under one Idempotency-Key it is sent once, however often it is asked for. */
async function send(mail, idempotencyKey) {
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(`${POSTHASTE_URL}/api/v1/emails/send`, {
      method: "POST",
      headers: {
        "X-API-Key": POSTHASTE_KEY,
        "Content-Type": "application/json",
        "Idempotency-Key": idempotencyKey,
      },
      body: JSON.stringify(mail),
      signal: AbortSignal.timeout(30_000),
    }).catch((fault) => fault);
    if (answer.ok) return (await answer.json()).data.id;
    // Without an answer the mail may have been accepted: the same key keeps it from being sent twice.
    const isTemporary = answer instanceof Error || TEMPORARY.includes(answer.status);
    if (!isTemporary || attempt === PAUSES.length) {
      throw answer instanceof Error ? answer : new Error(await answer.text());
    }
    await setTimeout(1_000 * PAUSES[attempt]);
  }
}

const mail = {
  from_email: "orders@example.org",
  from_name: "The Shop",
  to,
  subject: `Your order ${order}`,
  body: "<p>It is on its way.</p>",
};
console.log(await send(mail, `order-${order}`));

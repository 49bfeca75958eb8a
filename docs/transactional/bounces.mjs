// node bounces.mjs      (npm install standardwebhooks)
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const { WEBHOOK_SECRET, PORT = "8090" } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);
/** Events that were handled, because the same one may come again. Keep them in your database for two days. */
const handled = new Set();

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy());
});

async function receive(request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  let event;
  try {
    // The signature covers the body as it came. An old or changed event throws.
    event = webhook.verify(Buffer.concat(parts).toString(), request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  const id = request.headers["webhook-id"];
  if (!handled.has(id)) handle(event);
  handled.add(id);
  response.writeHead(204).end();
}

function handle({ type, data }) {
  const isGone = type === "message.bounced" && data.bounce_type === "hard";
  if (isGone || type === "message.complained") console.log(`no more mail to ${data.to}: ${data.detail}`);
  else console.log(`${type}: ${data.to}: ${data.detail}`);
}

server.listen(Number(PORT), "127.0.0.1", () => console.log(`listening on port ${server.address().port}`));

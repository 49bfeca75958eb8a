// node send-smtp.mjs ada@example.com 1042      (npm install nodemailer)
import { createTransport } from "nodemailer";

const { SMTP_HOST = "localhost", SMTP_PORT = "587", POSTHASTE_KEY } = process.env;
const [to, order] = process.argv.slice(2);

const transport = createTransport({
  host: SMTP_HOST,
  port: Number(SMTP_PORT),
  requireTLS: true,
  auth: { user: "api", pass: POSTHASTE_KEY },
});

try {
  const { response } = await transport.sendMail({
    from: "The Shop <orders@example.org>",
    to,
    subject: `Your order ${order}`,
    text: "It is on its way.",
    html: "<p>It is on its way.</p>",
  });
  console.log(response); // 250 2.0.0 Queued as 01a1ff32-…
} catch (error) {
  console.error(error.message);
  // 5xx: refused for good. Everything else is worth another attempt in some minutes.
  process.exitCode = error.responseCode >= 500 ? 1 : 75;
} finally {
  transport.close();
}

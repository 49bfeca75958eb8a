/** The program behind real proxies, with the configurations of `deploy`: it knows the client, and not only the proxy. */
import { request } from "node:https";
import { createTransport } from "nodemailer";
import { expect, test } from "vitest";
import { eventually } from "#test/support/eventually.ts";
import { freePort } from "#test/support/free-port.ts";
import { isHaproxyInstalled, isNginxInstalled, startHaproxy, startNginx } from "#test/support/proxies.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { openScene, type Scene } from "#test/support/scene.ts";
import { openSmtp } from "#test/support/smtp-client.ts";

const key = `efk_${"e2e0".repeat(10)}`;
/** The client is another address of this machine than the proxy is. */
const CLIENT = "127.0.0.9";
const trusted = { TRUSTED_PROXIES: "127.0.0.1", SMTP_PROXIES: "127.0.0.1" };

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Calls the proxy over HTTPS from CLIENT. `isEnough` ends an answer that never ends by itself. */
function callFrom(
  port: number,
  method: string,
  path: string,
  body?: unknown,
  isEnough: (text: string) => boolean = () => false,
) {
  return new Promise<Answer>((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        localAddress: CLIENT,
        method,
        path,
        rejectUnauthorized: false,
        // What a client says of itself is not believed.
        headers: { "X-API-Key": key, "Content-Type": "application/json", "X-Forwarded-For": "198.51.100.1" },
      },
      (response) => {
        let text = "";
        const end = () => resolve({ status: response.statusCode ?? 0, text });
        response.on("data", (chunk) => {
          text += chunk;
          if (!isEnough(text)) return;
          end();
          sent.destroy();
        });
        response.on("end", end);
      },
    );
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function expectHttp({ program }: Scene, port: number): Promise<void> {
  const made = await callFrom(port, "POST", "/api/v1/mailing-lists", { name: "News" });
  expect(made.status).toBe(201);
  const event = await eventually("the audit event", async () => {
    const { body } = await program.call("GET", "/audit-events?operation=createMailingList");
    return body.data[0];
  });
  expect(event).toMatchObject({ ip: CLIENT });
  const live = await callFrom(port, "GET", "/api/v1/events?topics=jobs", undefined, (text) =>
    text.includes("event:"),
  );
  expect(live.status).toBe(200);
  for (const path of [
    "/metrics",
    "/metrics/",
    "/%6detrics",
    "/healthz",
    "/readyz/",
    "/inbox",
    "/%69nbox/messages",
    "/inbox/messages",
  ])
    expect([path, (await callFrom(port, "GET", path)).status]).toEqual([
      path,
      expect.toSatisfy((status) => [403, 404].includes(status)),
    ]);
}

/** HAProxy with the configuration of `deploy` in front of the program. Returns where its ports are. */
async function haproxyBefore({ program }: Scene) {
  const [https = 0, http = 0, smtp = 0, submission = 0, submissions = 0] = await Promise.all(
    Array.from({ length: 5 }, freePort),
  );
  const target = (log: string, isImplicitTls?: boolean) =>
    eventually(`a port ${log}`, async () => {
      const lines = program.logged(`listening for ${log}`);
      return lines.find((line) => isImplicitTls === undefined || line.isImplicitTls === isImplicitTls)?.port;
    });
  const proxy = await startHaproxy(
    [https, http, smtp, submission, submissions],
    new Map([
      ["bind :443", `bind 127.0.0.1:${https}`],
      ["bind :80", `bind 127.0.0.1:${http}`],
      ["bind :25", `bind 127.0.0.1:${smtp}`],
      ["bind :587", `bind 127.0.0.1:${submission}`],
      ["bind :465", `bind 127.0.0.1:${submissions}`],
      ["127.0.0.1:8080", new URL(program.url).host],
      ["127.0.0.1:2525", `127.0.0.1:${await target("inbound mail")}`],
      ["127.0.0.1:2587", `127.0.0.1:${await target("SMTP submission", false)}`],
      ["127.0.0.1:2465", `127.0.0.1:${await target("SMTP submission", true)}`],
    ]),
  );
  return Object.assign(proxy, { https, smtp, submission, submissions });
}

test.skipIf(!isHaproxyInstalled)(
  "HAProxy passes HTTP as nginx does, and names the client of each SMTP port by the PROXY protocol",
  async () => {
    await using scene = await openScene({
      env: {
        ...trusted,
        MAIL_MODE: "capture",
        INBOUND_PORT: "0",
        SUBMISSION_PORT: "0",
        SUBMISSIONS_PORT: "0",
      },
    });
    await using proxy = await haproxyBefore(scene);
    await expectHttp(scene, proxy.https);
    const { program, dns } = scene;
    await addVerifiedDomain(program.call, dns, "shop.test");
    await program.call("POST", "/inbound-routes", { pattern: "support@shop.test" });

    const client = await openSmtp(proxy.smtp, false, CLIENT);
    for (const command of ["EHLO mx.example", "MAIL FROM:<ada@example.net>", "RCPT TO:<support@shop.test>"])
      expect(await client.say(command)).toMatch(/^250/);
    await client.say("DATA");
    expect(await client.say("From: ada@example.net\r\nSubject: Help\r\n\r\nPlease\r\n.")).toMatch(/^250/);
    const received = await eventually("the mail to be kept", async () => {
      const { body } = await program.call("GET", "/received-emails");
      const [row] = body.data.received_emails;
      return row && (await program.call("GET", `/received-emails/${row.id}`)).body.data;
    });
    expect(received).toMatchObject({ remote_ip: CLIENT });

    for (const [port, secure] of [
      [proxy.submission, false],
      [proxy.submissions, true],
    ] as const) {
      const transport = createTransport({
        host: "127.0.0.1",
        port,
        secure,
        requireTLS: !secure,
        localAddress: CLIENT,
        tls: { rejectUnauthorized: false },
        auth: { user: "anything", pass: key },
      });
      const mail = { from: "orders@shop.test", to: "ada@example.net", subject: "Order", text: "Thanks" };
      expect((await transport.sendMail(mail)).response).toMatch(/^250 /);
      transport.close();
    }
  },
);

test.skipIf(!isNginxInstalled)(
  "nginx passes HTTP with the client's address, live streams unbuffered, and no page of the operator",
  async () => {
    await using scene = await openScene({ env: { ...trusted, MAIL_MODE: "capture" } });
    const [https = 0, http = 0] = await Promise.all([1, 2].map(freePort));
    await using _ = await startNginx(
      [https],
      new Map([
        ["listen 443", `listen 127.0.0.1:${https}`],
        ["listen 80", `listen 127.0.0.1:${http}`],
        ["http://127.0.0.1:8080", scene.program.url],
      ]),
    );
    await expectHttp(scene, https);
  },
);

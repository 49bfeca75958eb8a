import { expect, onTestFinished, test } from "vitest";
import { openScene } from "#test/support/scene.ts";
import { password, startSmartHost as startHost } from "#test/support/smart-host.ts";

async function startSmartHost() {
  const host = await startHost();
  onTestFinished(host.close);
  return host;
}

function openAt(port: number, login: string) {
  return openScene({ env: { MAIL_MODE: "relay", RELAY_URL: `smtp://${login}@127.0.0.1:${port}` } });
}

test("in relay mode all mail goes to the smart host with a login, whatever the DNS says of its domain", async () => {
  const host = await startSmartHost();
  await using scene = await openAt(host.port, `shop:${encodeURIComponent(password)}`);
  scene.dns.zone["anywhere.test"] = "nxdomain";
  const id = await scene.send("ada@anywhere.test");
  const { timeline } = await scene.messageWhen("delivered", id);
  expect(timeline.at(-1)).toMatchObject({ type: "delivered", mx_host: "127.0.0.1", code: 250 });
  expect(host.relayed).toEqual([
    { user: "shop", to: "ada@anywhere.test", message: expect.stringContaining(id) },
  ]);
});

test("with a wrong password in RELAY_URL messages stay queued, and the error is logged once", async () => {
  const host = await startSmartHost();
  await using scene = await openAt(host.port, "shop:wrong");
  const ids = await Promise.all(["ada", "bob", "cy"].map((name) => scene.send(`${name}@anywhere.test`)));
  for (const id of ids) {
    const message = await scene.messageWhen("deferred", id);
    expect(message.error_message).toMatch(/^535 /);
    expect(Date.parse(message.next_attempt_at)).toBeGreaterThan(Date.now());
  }
  const id = await scene.send("dee@anywhere.test");
  const before = host.logIns();
  await scene.messageWhen("deferred", id);
  expect(host.logIns()).toBe(before);
  expect(host.relayed).toEqual([]);
});

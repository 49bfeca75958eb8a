import { Resolver } from "node:dns/promises";
import { authenticate } from "mailauth";
import { expect, test } from "vitest";
import { startFakeMx } from "#test/support/fake-mx.ts";
import { addVerifiedDomain } from "#test/support/publish.ts";
import { mailDomain, openScene, platform } from "#test/support/scene.ts";
import { isSpamAssassinInstalled, scoreSpam } from "#test/support/spamassassin.ts";

const html = `<html><body>
<h1>What is new in June</h1>
<p>Hello {{ first_name | default: "there" }},</p>
<p>our garden shop has new herbs, and on Saturday we show how to dry them. You find all of them
<a href="https://shop.test/herbs?season=summer&amp;page=1">in the shop</a>.</p>
<p>Until then, <a href="https://shop.test/team">the team</a></p>
</body></html>`;

test.skipIf(!isSpamAssassinInstalled)(
  "a campaign's mail scores below 2 points in SpamAssassin and its unsubscribe headers are signed",
  async () => {
    const mx = await startFakeMx();
    await using scene = await openScene({
      env: { SMTP_PORT: String(mx.port), PUBLIC_URL: "https://post.test" },
      zone: {
        ...mailDomain("example.test"),
        [platform.PLATFORM_SPF_DOMAIN]: { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
        [platform.BOUNCE_DOMAIN]: { TXT: [`v=spf1 include:${platform.PLATFORM_SPF_DOMAIN} -all`] },
      },
    });
    const { program, dns } = scene;
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await program.call(method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    };
    await addVerifiedDomain(program.call, dns, "shop.test");
    const { id: list } = await ask("POST", "/mailing-lists", { name: "News" });
    await ask("POST", `/mailing-lists/${list}/subscribers`, { email: "ada@example.test", first_name: "Ada" });
    const { id } = await ask("POST", "/campaigns", {
      name: "June",
      subject: "Herbs in June, {{ first_name }}",
      from_email: "news@shop.test",
      from_name: "Garden Shop",
      mailing_list_id: list,
      html_content: html,
    });
    await ask("POST", `/campaigns/${id}/send`);
    const [received] = await mx.waitForMessages(1);
    await mx.close();
    if (received === undefined) throw new Error("nothing was received");

    const result = scoreSpam(received.raw, platform.MAIL_HOSTNAME);
    expect(result.score, result.rules.join(", ")).toBeLessThan(2);

    const resolver = new Resolver();
    resolver.setServers([dns.address]);
    const { dkim } = await authenticate(received.raw, {
      ip: "127.0.0.1",
      helo: platform.MAIL_HOSTNAME,
      mta: "mx.example.test",
      sender: received.mailFrom,
      resolver: (name, type) => resolver.resolve(name, type) as Promise<string[][]>,
    });
    const signed = dkim.results[0]?.signingHeaders?.keys?.toLowerCase().split(/\s*:\s*/);
    expect(dkim.results[0]?.status.result).toBe("pass");
    expect(signed).toEqual(expect.arrayContaining(["list-unsubscribe", "list-unsubscribe-post"]));
  },
  60_000,
);

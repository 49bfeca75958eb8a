import { hash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { ApiError } from "#platform/errors.ts";
import { asWorkspaceId } from "#platform/ids.ts";
import { stubClock } from "#test/support/clock.ts";
import { authorize, grants, KeyAuthenticator, type KeyRecord, missingPermissions } from "./authenticate.ts";
import type { Endpoint, Resource } from "./endpoint.ts";

const secret = `efk_${"a1B2".repeat(10)}`;
const record: KeyRecord = {
  workspaceId: asWorkspaceId("w"),
  timezone: "UTC",
  isSuspended: false,
  defaultSender: null,
  retryHours: 72,
  tracksTransactional: false,
  actor: { kind: "key", id: "k", name: "Key" },
  permissions: ["things:read"],
  isActive: true,
  expiresAt: null,
};

function authenticatorOf(found: KeyRecord | undefined) {
  const clock = stubClock(new Date("2027-01-01T00:00:00Z"));
  const findKey = vi.fn(async () => found);
  const onUse = vi.fn();
  return {
    clock,
    findKey,
    onUse,
    authenticator: new KeyAuthenticator({ findKey, clock, onUse }),
  };
}

const refusal = (message: string) => expect.objectContaining({ code: "UNAUTHORIZED", message });

describe("a key", () => {
  it("is looked up by its SHA-256 only, and its use is reported", async () => {
    const { authenticator, findKey, onUse } = authenticatorOf(record);
    expect(await authenticator.authenticate(secret)).toBe(record);
    expect(findKey).toHaveBeenCalledWith(hash("sha256", secret, "buffer"));
    expect(onUse).toHaveBeenCalledWith(record);
  });

  it.each([undefined, "", [secret, secret]])("that was not sent once is refused: %j", async (header) => {
    const { authenticator } = authenticatorOf(record);
    const call = authenticator.authenticate(header);
    await expect(call).rejects.toEqual(refusal("Send your API key in the X-API-Key header"));
  });

  it.each([
    "efk_short",
    `${secret} `,
    `${secret}.`,
    secret.toUpperCase(),
    `${secret}, ${secret}`,
    `efk_${"é".repeat(40)}`,
    "x".repeat(1_000_000),
  ])("of another form is refused without a look-up", async (header) => {
    const { authenticator, findKey } = authenticatorOf(record);
    await expect(authenticator.authenticate(header)).rejects.toEqual(refusal("The API key is not valid"));
    expect(findKey).not.toHaveBeenCalled();
  });

  it("that is deactivated is refused two seconds later, though the wall clock is set back or forward", async () => {
    for (const jump of [-3 * 3_600_000, 3 * 3_600_000]) {
      const { authenticator, clock, findKey } = authenticatorOf(record);
      await authenticator.authenticate(secret);
      clock.set(new Date(clock.now().getTime() + jump));
      findKey.mockResolvedValue({ ...record, isActive: false });
      clock.advance(2_000);
      await expect(authenticator.authenticate(secret)).rejects.toEqual(
        refusal("The API key has been deactivated"),
      );
    }
  });

  it("that is unknown, deactivated or expired is refused", async () => {
    const call = (found: KeyRecord | undefined) => authenticatorOf(found).authenticator.authenticate(secret);
    const now = new Date("2027-01-01T00:00:00Z");
    await expect(call(undefined)).rejects.toEqual(refusal("The API key is not valid"));
    await expect(call({ ...record, isActive: false })).rejects.toEqual(
      refusal("The API key has been deactivated"),
    );
    await expect(call({ ...record, expiresAt: now })).rejects.toEqual(refusal("API key expired"));
    await expect(call({ ...record, expiresAt: new Date(now.getTime() + 1) })).resolves.toBeDefined();
  });

  it("is cached for two seconds, and can expire within them", async () => {
    const { authenticator, clock, findKey } = authenticatorOf({
      ...record,
      expiresAt: new Date("2027-01-01T00:00:01Z"),
    });
    await authenticator.authenticate(secret);
    clock.advance(999);
    await authenticator.authenticate(secret);
    expect(findKey).toHaveBeenCalledTimes(1);
    clock.advance(1);
    await expect(authenticator.authenticate(secret)).rejects.toEqual(refusal("API key expired"));
    clock.advance(1_000);
    await expect(authenticator.authenticate(secret)).rejects.toThrow();
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it("is looked up again at once after forget", async () => {
    const { authenticator, findKey } = authenticatorOf(record);
    await authenticator.authenticate(secret);
    authenticator.forget();
    await authenticator.authenticate(secret);
    expect(findKey).toHaveBeenCalledTimes(2);
  });

  it("whose look-up failed is looked up again", async () => {
    const { authenticator, findKey } = authenticatorOf(record);
    findKey.mockRejectedValueOnce(new Error("the database is away"));
    await expect(authenticator.authenticate(secret)).rejects.toThrow("the database is away");
    expect(await authenticator.authenticate(secret)).toBe(record);
  });

  it("asked for by many at once is looked up once", async () => {
    const { authenticator, findKey } = authenticatorOf(record);
    await Promise.all(Array.from({ length: 50 }, () => authenticator.authenticate(secret)));
    expect(findKey).toHaveBeenCalledTimes(1);
  });
});

describe("permissions", () => {
  it.each([
    ["things:read", "things:read", true],
    ["*:*", "things:send", true],
    ["*:read", "things:read", true],
    ["*:read", "things:write", false],
    ["things:*", "things:write", true],
    ["things:*", "other:write", false],
    ["things:write", "things:read", false],
    ["thing:read", "things:read", false],
    ["", "things:read", false],
    ["*", "things:read", false],
    [":", "things:read", false],
  ])("%s grants %s: %s", (held, wanted, isGranted) => {
    expect(grants(held, wanted)).toBe(isGranted);
  });

  it("that are missing are all named", () => {
    expect(missingPermissions(["a:read"], ["a:read", "a:write", "b:read"])).toEqual(["a:write", "b:read"]);
    expect(missingPermissions([], [])).toEqual([]);
  });
});

describe("an endpoint may be used by", () => {
  const things: Resource = { name: "things", label: "Things", group: "G" };
  const endpointWith = (changes: Partial<Endpoint>) =>
    ({
      needs: { resource: things, action: "write", judgedBy: "server" },
      method: "POST",
      ...changes,
    }) as Endpoint;
  const read = { resource: things, action: "read", judgedBy: "server" } as const;

  function codeOf(endpoint: Endpoint, caller: Partial<KeyRecord>): string {
    try {
      authorize(endpoint, { ...record, ...caller }, new Date());
      return "allowed";
    } catch (thrown) {
      if (thrown instanceof ApiError) return thrown.code;
      throw thrown;
    }
  }

  it("keys with its permission", () => {
    expect(codeOf(endpointWith({ needs: read }), {})).toBe("allowed");
    expect(codeOf(endpointWith({}), {})).toBe("INSUFFICIENT_SCOPE");
    expect(codeOf(endpointWith({ needs: { ...read, judgedBy: "handler" } }), { permissions: [] })).toBe(
      "allowed",
    );
    expect(codeOf(endpointWith({ needs: "authenticated" }), { permissions: [] })).toBe("allowed");
  });

  it("keys of a suspended workspace only if it reads or pays; suspension is checked before permissions", () => {
    const suspended = { isSuspended: true, permissions: ["*:*"] };
    expect(codeOf(endpointWith({}), suspended)).toBe("SERVICE_SUSPENDED");
    expect(codeOf(endpointWith({}), { isSuspended: true, permissions: [] })).toBe("SERVICE_SUSPENDED");
    expect(codeOf(endpointWith({ needs: { ...read, action: "send" } }), suspended)).toBe("SERVICE_SUSPENDED");
    expect(codeOf(endpointWith({ needs: read }), suspended)).toBe("allowed");
    expect(codeOf(endpointWith({ openWhileSuspended: true }), suspended)).toBe("allowed");
    expect(codeOf(endpointWith({ needs: "authenticated", method: "GET" }), suspended)).toBe("allowed");
    expect(codeOf(endpointWith({ needs: "authenticated" }), suspended)).toBe("SERVICE_SUSPENDED");
  });
});

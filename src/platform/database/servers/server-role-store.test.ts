import { expect, test } from "vitest";
import { findServerRole } from "./server-role-store.ts";

test("a server is away while the certificate of the URL cannot be read", async () => {
  const url = "postgres://127.0.0.1:9/mail?sslmode=verify-full&sslrootcert=/does/not/exist.pem";
  expect(await findServerRole(url, { host: "127.0.0.1", port: 9 })).toMatchObject({
    kind: "away",
    reason: expect.stringContaining("ENOENT"),
  });
});

import { expect, test } from "vitest";
import { openWithPassphrase, sealWithPassphrase, WrongPassphrase } from "./passphrase-box.ts";

test("only a wrong passphrase is called one; costs that a file names are bounded", async () => {
  const sealed = await sealWithPassphrase("Zoë's key", "correct horse");
  expect(await openWithPassphrase(sealed, "correct horse")).toBe("Zoë's key");
  await expect(openWithPassphrase(sealed, "another")).rejects.toThrow(WrongPassphrase);
  for (const costs of [{ N: 2 ** 40 }, { r: 2 ** 20 }, { p: 1_000_000 }, { N: -1 }, { N: 1.5 }])
    await expect(openWithPassphrase({ ...sealed, ...costs }, "correct horse")).rejects.toThrow(
      "unknown costs",
    );
  // scrypt wants a power of two.
  const odd = openWithPassphrase({ ...sealed, N: 3 }, "correct horse");
  await expect(odd).rejects.not.toThrow(WrongPassphrase);
});

import { expect, test } from "vitest";
import { plans } from "./plans.ts";
import { readPlans } from "./plans-file.ts";

test("no file changes nothing", () => {
  expect(readPlans(null)).toEqual(plans);
});

test("figures that are given replace those that are there; a year is twelve months, and the description follows", () => {
  const { growth, scale, free } = readPlans({
    growth: { price_monthly: "29.00", allowances: { email: 60_000 }, rates: { email: "0.0007" } },
    scale: { price_yearly: "1000.00", description: "For many." },
    free: { allowances: { validation: null }, storage: { bytes: 1_000_000 } },
  });
  expect(growth).toEqual({
    ...plans.growth,
    price_monthly: "29.00",
    price_yearly: "348.00",
    description: "60,000 emails a month, $0.0007 for each beyond them.",
    allowances: { ...plans.growth.allowances, email: 60_000 },
    rates: { ...plans.growth.rates, email: "0.0007" },
  });
  expect(scale).toEqual({ ...plans.scale, price_yearly: "1000.00", description: "For many." });
  expect(free.storage).toEqual({ ...plans.free.storage, bytes: 1_000_000 });
  expect(free.allowances).toEqual({ email: 3_000, validation: null, blacklist_check: 50 });
});

test.each([
  [{ grwoth: {} }, "/"],
  [{ growth: { price_monthly: 29 } }, "/growth/price_monthly"],
  [{ growth: { price_monthly: "29" } }, "/growth/price_monthly"],
  [{ growth: { allowances: { email: -1 } } }, "/growth/allowances/email"],
  [{ growth: { allowances: { email: 1.5 } } }, "/growth/allowances/email"],
  [{ scale: { rates: { email: "0.0000001" } } }, "/scale/rates/email"],
  [{ scale: { rates: { email: "0.000" } } }, "/scale/rates/email"],
  [{ free: { price_monthly: "1.00" } }, "/free"],
  [{ free: { storage: { bytes: -1 } } }, "/free/storage/bytes"],
  [{ free: { storage: { messages: 1 } } }, "/free/storage"],
  [[], "/"],
])("%j is refused, and it says where", (file, place) => {
  expect(() => readPlans(file)).toThrow(`PLANS_FILE: ${place}`);
});

import { describe, expect, it } from "vitest";
import { networkOf } from "./source-network.ts";

describe("the network of a request", () => {
  it("is the address itself for IPv4", () => {
    expect(networkOf("192.0.2.7")).toBe("192.0.2.7");
  });

  it.each([
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["64:ff9b::192.0.2.7", "64:ff9b:0:0::/64"],
  ])("is the /64 of %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each(["::ffff:192.0.2.7", "::FFFF:c000:207", "0:0:0:0:0:ffff:192.0.2.7"])(
    "is the IPv4 address that %s stands for",
    (address) => {
      expect(networkOf(address)).toBe("192.0.2.7");
    },
  );

  it("is the same for everything that is not an address", () => {
    expect(networkOf("unknown")).toBe(networkOf("192.0.2.7:4711"));
    expect(networkOf("")).toBe("unknown");
  });
});

import smpp from "smpp";
import { expect, test } from "vitest";
import { parseReceipt, plainId } from "./smpp-receipt.ts";

const deliver = (fields: Readonly<Record<string, unknown>>) => new smpp.PDU("deliver_sm", fields);
const text = (message: string) => ({ short_message: { message }, esm_class: 4, data_coding: 0 });

test.each([
  ["DELIVRD", "delivered"],
  ["UNDELIV", "failed"],
  ["EXPIRED", "failed"],
  ["DELETED", "failed"],
  ["REJECTD", "failed"],
  ["ACCEPTD", null],
  ["ENROUTE", null],
  ["UNKNOWN", null],
])("the state %s is %s", (state, status) => {
  const receipt = parseReceipt(deliver(text(`id:7F sub:001 dlvrd:000 stat:${state} err:011 text:Hi`)));
  expect(receipt).toEqual({ gatewayId: "7F", status, detail: `${state} (error 011)` });
});

test("TLVs take precedence over the text", () => {
  const fields = { ...text("id:1 stat:DELIVRD"), receipted_message_id: "2", message_state: 8 };
  expect(parseReceipt(deliver(fields))).toEqual({ gatewayId: "2", status: "failed", detail: "REJECTED" });
});

test("an id with an underscore is read unchanged", () => {
  const read = text("id:a§b stat:DELIVRD");
  expect(parseReceipt(deliver(read))?.gatewayId).toBe("a_b");
});

test("neither a message from a telephone nor a PDU without an id is a receipt", () => {
  expect(parseReceipt(deliver({ ...text("id:1 stat:DELIVRD"), esm_class: 0 }))).toBeNull();
  expect(parseReceipt(deliver(text("hello")))).toBeNull();
});

test("ids match whatever their case, leading zeros and base", () => {
  expect(plainId("00AB")).toBe(plainId("ab"));
  expect(plainId("171", true)).toBe(plainId("AB"));
  expect(plainId("0")).toBe("0");
});

test("NUL characters are removed from an id", () => {
  const receipt = parseReceipt(deliver(text("id:17\0 stat:DELIVRD")));
  expect(plainId(receipt?.gatewayId ?? "", true)).toBe(plainId("11"));
  expect(plainId("a\0b")).toBe("ab");
});

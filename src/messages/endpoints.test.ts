import { expect, test } from "vitest";
import { startService } from "#test/support/service.ts";

const service = await startService();

test("an empty log is an empty page, not an error", async () => {
  const { status, body } = await service.call("GET", "/messages");
  expect(status).toBe(200);
  expect(body.data).toEqual({
    messages: [],
    searched_since: null,
    pagination: { page: 1, limit: 50, total: 0, total_pages: 0, next_cursor: null },
  });
});

test("a status that does not exist is refused by name", async () => {
  const { status, body } = await service.call("GET", "/messages?status=lost");
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: "VALIDATION_ERROR", details: [{ field: "status" }] });
});

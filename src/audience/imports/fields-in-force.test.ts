import sql from "sql-template-tag";
import { expect, test } from "vitest";
import { lockField, updateField } from "#audience/custom-fields/store.ts";
import { eventually } from "#test/support/eventually.ts";
import { startImportService } from "#test/support/imports.ts";

const { database, workspaceId, call, newList, upload, ended } = await startImportService();

test("an import that starts while a field changes its type uses the new type", async () => {
  const list = await newList();
  const number = { field_name: "age", field_label: "Age", field_type: "number" };
  const { id } = (await call("POST", `/mailing-lists/${list}/custom-fields`, number)).body.data;
  const waiting = sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%custom_fields%'`;
  const { uploaded } = await database.transaction(async (tx) => {
    const field = await lockField(tx, workspaceId, list, id);
    if (field === undefined) throw new Error("no field");
    await updateField(tx, workspaceId, id, { ...field, field_type: "text" }, new Date());
    const uploaded = await upload(list, "Email,Age\nann@age.example,old\n");
    await eventually("the import to wait for the field", () => database.row(waiting));
    return { uploaded };
  });
  expect(await ended(uploaded)).toMatchObject({ status: "completed", counts: { created: 1, invalid: 0 } });
  const { subscribers } = (await call("GET", `/subscribers?list_id=${list}`)).body.data;
  expect(subscribers).toMatchObject([{ email: "ann@age.example", custom_fields: { age: "old" } }]);
});

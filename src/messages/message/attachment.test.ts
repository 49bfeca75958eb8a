import { expect, test } from "vitest";
import { attachmentsJson, type StoredAttachment } from "./attachment.ts";

const attachment: StoredAttachment = {
  filename: 'Übersicht "Mai" \\ 2026.pdf',
  content: Buffer.from("a file").toString("base64"),
  content_type: "application/pdf",
  disposition: "attachment",
  content_id: null,
};

test.each([[[]], [[attachment]], [[attachment, { ...attachment, content: "QUJD", content_id: "logo" }]]])(
  "attachments are the same after JSON: %j",
  (attachments) => {
    expect(JSON.parse(attachmentsJson(attachments).toString("utf8"))).toEqual(attachments);
  },
);

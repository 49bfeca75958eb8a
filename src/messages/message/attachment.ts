/** An attachment as it is stored with a message or campaign. */
export interface StoredAttachment {
  readonly filename: string;
  /** Base64 as received, without line breaks. */
  readonly content: string;
  readonly content_type: string;
  readonly disposition: "attachment" | "inline";
  readonly content_id: string | null;
}

/**
 * Attachments as JSON in UTF-8. The content is copied unescaped: Base64 has no character that JSON escapes, and
 * JSON.stringify of 27 MB blocks the event loop for 50 ms.
 */
export function attachmentsJson(attachments: readonly StoredAttachment[]): Buffer {
  const pieces = attachments.flatMap(({ content, ...rest }, index) => {
    const begin = `${index === 0 ? "" : ","}${JSON.stringify(rest).slice(0, -1)},"content":"`;
    return [Buffer.from(begin), content, Buffer.from('"}')];
  });
  const json = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 2));
  let at = json.write("[");
  for (const piece of pieces) {
    at += typeof piece === "string" ? json.write(piece, at, "latin1") : piece.copy(json, at);
  }
  json.write("]", at);
  return json;
}

/** Answers that are files, not envelopes: job results and exports. */
import type { Readable } from "node:stream";
import { type TSchema, Type } from "typebox";

/** What the handler of such an endpoint returns. */
export class FileAnswer {
  /** The name a browser saves it under; any text. */
  readonly name: string;
  readonly content: Readable;

  constructor(name: string, content: Readable) {
    this.name = name;
    this.content = content;
  }
}

/** The `answer` of an endpoint that gives a file of this media type, say `text/csv`. */
export function fileShape(mediaType: string, description: string) {
  return Type.Unsafe<FileAnswer>(Type.String({ contentMediaType: mediaType, description }));
}

/** The media type when a shape is a file's. */
export function mediaTypeOf(shape: TSchema): string | undefined {
  return "contentMediaType" in shape ? String(shape.contentMediaType) : undefined;
}

/** Content-Disposition (RFC 6266): plain ASCII for old clients, the real name in the extended form (RFC 8187). */
export function dispositionOf(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

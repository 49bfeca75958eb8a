/** Responses that are files without an envelope: job results and exports. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Readable } from "node:stream";
import { type TSchema, Type } from "typebox";

/**
 * Returned by the handler of an endpoint that sends a file. The content is read after the handler has returned, in the
 * context of the handler: what it reads from the database has the same deadlines (platform/database/request-database.ts).
 */
export class FileAnswer {
  /** File name for the download; any text. */
  readonly name: string;
  readonly content: Readable;

  constructor(name: string, content: Readable) {
    this.name = name;
    this.content = content;
    const inContext = AsyncLocalStorage.snapshot();
    const read = content._read.bind(content);
    content._read = (size) => inContext(read, size);
  }
}

/** The `answer` of an endpoint that sends a file of a media type such as `text/csv`. */
export function fileShape(mediaType: string, description: string) {
  return Type.Unsafe<FileAnswer>(Type.String({ contentMediaType: mediaType, description }));
}

/** The media type of a `fileShape`; undefined for other shapes. */
export function mediaTypeOf(shape: TSchema): string | undefined {
  return "contentMediaType" in shape ? String(shape.contentMediaType) : undefined;
}

/**
 * Content-Disposition (RFC 6266) with an ASCII name for old clients and the real name in the extended form (RFC 8187). Names
 * of received files may have folders, which no client must create.
 */
export function dispositionOf(given: string): string {
  const name = given.replaceAll(/[/\\\p{Cc}]/gu, "_");
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

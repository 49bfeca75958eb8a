/** Files to upload: the types that hold bytes in Node.js, browsers, Deno and Bun become parts of a form. */

type Bytes = Blob | ArrayBuffer | Uint8Array | string;
type BlobPart = ConstructorParameters<typeof Blob>[0] extends Iterable<infer Part> | undefined ? Part : never;
type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * A file: a `File` or `Blob` (in Node.js also of `fs.openAsBlob`, which reads it while it is sent), bytes, text, or a
 * stream. A stream is read into memory before it is sent, so that a retry can send it again. With `name` it is sent under
 * that name.
 */
export type Upload = Bytes | ByteStream | { readonly name: string; readonly content: Bytes | ByteStream };

/**
 * The form of a body: the file becomes a part with a file name, an array one field for each item, an array of objects one
 * field of JSON, everything else text.
 * Fields that are undefined or null are left out.
 */
export async function formOf(body: Readonly<Record<string, unknown>>, fileField: string): Promise<FormData> {
  const form = new FormData();
  for (const [field, value] of Object.entries(body)) {
    if (field === fileField) {
      const { name, content } = namedFile(value as Upload);
      form.append(field, await blobOf(content), name);
    } else if (Array.isArray(value) && value.some((one) => typeof one === "object")) {
      form.append(field, JSON.stringify(value));
    } else {
      for (const one of [value ?? []].flat() as (string | number | boolean)[])
        form.append(field, String(one));
    }
  }
  return form;
}

function namedFile(file: Upload): { readonly name: string; readonly content: Bytes | ByteStream } {
  if (typeof file === "object" && "content" in file) return file;
  const isNamed = typeof File !== "undefined" && file instanceof File;
  return { name: isNamed ? file.name : "file", content: file };
}

async function blobOf(content: Bytes | ByteStream): Promise<Blob> {
  if (content instanceof Blob) return content;
  if (typeof content === "object" && "getReader" in content) return new Response(content).blob();
  if (typeof content !== "object" || !(Symbol.asyncIterator in content))
    return new Blob([content as BlobPart]);
  const parts: BlobPart[] = [];
  for await (const part of content) parts.push(part as BlobPart);
  return new Blob(parts);
}

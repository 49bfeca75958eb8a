/**
 * Uploads: multipart/form-data (RFC 7578) with one file, which is streamed to the disk.
 *
 * An endpoint accepts an upload if its body has a `fileField`. The other fields of the form are text; booleans are
 * parsed, arrays of texts are sent as one field for each item, and arrays of objects as JSON: whole, or one field for
 * each item. The file is kept on this machine until the response.
 */
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import { type TSchema, Type } from "typebox";
import { ApiError, invalid, overloaded } from "#platform/errors.ts";
import { newId } from "#platform/ids.ts";
import { tempFolder } from "#platform/process/temp-files.ts";
import { hasCome } from "./body-budget.ts";
import { parsedJson } from "./json-body.ts";
import { flagField } from "./query.ts";
import { type BodyEvents, bodyReader } from "./validate.ts";

/** A file of a request. */
export interface UploadedFile {
  /** Path of the temporary file, which exists until the response. */
  readonly path: string;
  /** Its name as sent; for display only, never part of a path. */
  readonly name: string;
  readonly bytes: number;
}

/** A form that was read. Disposing of it deletes the file. */
export interface Form extends AsyncDisposable {
  /** The fields, in the shape of the endpoint. */
  readonly body: unknown;
}

/** Bytes for everything but the file and JSON: boundaries, headers of the parts, other fields. */
const FRAME_BYTES = 64 * 1024;
const LONGEST_FIELD = 1_000;
/** Bytes of a field that is JSON. */
const LONGEST_JSON = 128 * 1024;
const LONGEST_NAME = 255;
const MOST = { fields: 20, files: 1, parts: 21, headerPairs: 20 };
const MIB = 1024 ** 2;

/** Shape of the field that is a file. */
export function fileField(description: string) {
  return Type.Unsafe<UploadedFile>(Type.String({ format: "binary", description }));
}

/** The name of the field that is a file; undefined for JSON bodies. */
export function fileFieldOf(body: TSchema | undefined): string | undefined {
  return Object.entries(propertiesOf(body)).find(([, { format }]) => format === "binary")?.[0];
}

function propertiesOf(body: TSchema | undefined) {
  const { properties = {} } = (body ?? {}) as {
    properties?: Record<string, TSchema & { type?: string; format?: string; items?: { type?: string } }>;
  };
  return properties;
}

/** The fields of a type. @param ofItems the type of the items of an array */
function namesOfType(shape: TSchema | undefined, wanted: string, ofItems?: string): ReadonlySet<string> {
  const named = Object.entries(propertiesOf(shape)).filter(
    ([, { type, items }]) => type === wanted && (ofItems === undefined || items?.type === ofItems),
  );
  return new Set(named.map(([name]) => name));
}

/** Largest size of the whole request, in bytes. */
export function formLimit(shape: TSchema | undefined, fileLimit: number): number {
  const hasJson = namesOfType(shape, "array", "object").size > 0;
  return fileLimit + FRAME_BYTES + (hasJson ? LONGEST_JSON : 0);
}

/**
 * A function that reads forms of this shape.
 * @param fileLimit bytes of the file
 * @returns a function that throws ApiError VALIDATION_ERROR or PAYLOAD_TOO_LARGE, and then deletes the file
 */
export function formReader(
  shape: TSchema,
  fileLimit: number,
  dataDir: string,
): (request: FastifyRequest, events?: BodyEvents) => Promise<Form> {
  const field = fileFieldOf(shape) ?? "";
  const { [field]: _, ...texts } = propertiesOf(shape);
  const readTexts = bodyReader(Type.Object({ ...texts, [field]: Type.Optional(Type.Unknown()) }));
  const flags = namesOfType(shape, "boolean");
  const lists = namesOfType(shape, "array", "string");
  const listsOfObjects = namesOfType(shape, "array", "object");
  const fieldSize = listsOfObjects.size > 0 ? LONGEST_JSON : LONGEST_FIELD;
  const requestLimit = formLimit(shape, fileLimit);
  const folder = tempFolder(dataDir);

  /**
   * Writes the file to `path` and collects the other fields. If a field is sent twice, the last one counts, except for
   * arrays.
   */
  const receive = async (request: FastifyRequest, path: string, events?: BodyEvents) => {
    let file: UploadedFile | undefined;
    const values = new Map<string, unknown>();
    const unknown = new Set<string>();
    for await (const part of request.parts({ limits: { ...MOST, fieldSize, fileSize: fileLimit } })) {
      const { fieldname: name } = part;
      if (part.type === "file") {
        if (name !== field) throw invalid({ field, message: `Send the file in the field ${field}` });
        file = await save(part, path, fileLimit);
      } else if (name === field) {
        throw invalid({ field, message: `${field} must be a file, with a filename` });
      } else if (!Object.hasOwn(texts, name)) {
        // Only its name is checked.
        unknown.add(name);
        values.set(name, "");
      } else if (listsOfObjects.has(name)) {
        values.set(name, [...((values.get(name) as unknown[] | undefined) ?? []), ...objectsOf(name, part)]);
      } else {
        const text = textOf(name, part);
        if (lists.has(name)) values.set(name, [...((values.get(name) as string[] | undefined) ?? []), text]);
        else if (!flags.has(name)) values.set(name, text);
        // An empty flag counts as absent.
        else if (text !== "") values.set(name, flag.read(text, name));
      }
    }
    if (file === undefined) throw invalid({ field, message: `${field} is required: a file` });
    const body = {
      ...(readTexts(Object.fromEntries(values), events) as Record<string, unknown>),
      [field]: file,
    };
    for (const name of unknown) delete body[name];
    return body;
  };

  return async (request, events) => {
    const path = join(folder, newId());
    try {
      requireForm(request, field, { fileLimit, requestLimit });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      meter(request);
      const body = await receive(request, path, events);
      return { body, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    } catch (fault) {
      request.raw.unpipe();
      await rm(path, { force: true });
      throw refusalOf(fault);
    }
  };
}

/** Charges the budget for arriving data. Call it right before the form is read, so that no chunk is lost. */
function meter(request: FastifyRequest): void {
  const { raw, server } = request;
  if (raw.destroyed)
    throw new ApiError("VALIDATION_ERROR", "The connection broke before the form had arrived");
  if (hasCome(request)) return;
  const arrival = server.arrivingBodies.begin(request, "disk");
  raw.on("data", (chunk: Buffer) => arrival.note(chunk.length));
}

const flag = flagField(false, "");

/** Checks the headers before the form is read. */
function requireForm(
  request: FastifyRequest,
  field: string,
  { fileLimit, requestLimit }: { readonly fileLimit: number; readonly requestLimit: number },
): void {
  const { headers } = request;
  if (Number(headers["content-length"] ?? 0) > requestLimit) throw tooLarge(fileLimit);
  if (!request.isMultipart()) {
    throw new ApiError("VALIDATION_ERROR", `Send multipart/form-data with the file in the field ${field}`);
  }
  if ((headers["content-encoding"] ?? "identity") !== "identity") {
    throw new ApiError("VALIDATION_ERROR", "Send the form uncompressed, without Content-Encoding");
  }
}

async function save(part: MultipartFile, path: string, fileLimit: number): Promise<UploadedFile> {
  part.file.once("limit", () => part.file.destroy(tooLarge(fileLimit)));
  await pipeline(part.file, createWriteStream(path, { flags: "wx", mode: 0o600 }));
  // The database cannot store NUL or a lone surrogate.
  const name = (part.filename ?? "").replaceAll("\0", "").slice(0, LONGEST_NAME).toWellFormed();
  return { path, name, bytes: part.file.bytesRead };
}

interface TextPart {
  readonly value: unknown;
  readonly valueTruncated: boolean;
}

/** The objects of a JSON field: of an array, or a single one. A part of the type application/json is parsed already. */
function objectsOf(field: string, { value, valueTruncated }: TextPart): unknown[] {
  if (valueTruncated)
    throw invalid({ field, message: `${field} must have at most ${LONGEST_JSON / 1024} KB` });
  // What the form's parser has parsed is checked like a body.
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  if (text.trim() === "") return [];
  const given = parsedJson(field, text);
  if (Array.isArray(given)) return given;
  const isObject = typeof given === "object" && given !== null && Object.keys(given).length > 0;
  if (!isObject) throw invalid({ field, message: `${field} must be an array` });
  return [given];
}

function textOf(field: string, part: TextPart): string {
  const { value, valueTruncated } = part;
  if (typeof value !== "string") throw invalid({ field, message: `${field} must be plain text` });
  if (valueTruncated || value.length > LONGEST_FIELD) {
    throw invalid({ field, message: `${field} must have at most ${LONGEST_FIELD} characters` });
  }
  if (value.includes("\0")) throw invalid({ field, message: `${field} must not contain NUL characters` });
  return value;
}

function tooLarge(fileLimit: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", `The file must have at most ${fileLimit / MIB} MB`);
}

/** The error for the caller: a disk error is ours, any other error of the parser is a fault of the form. */
function refusalOf(fault: unknown): unknown {
  if (fault instanceof ApiError || !(fault instanceof Error)) return fault;
  const { code = "", syscall } = fault as NodeJS.ErrnoException;
  if (code === "ENOSPC") return overloaded("There is not enough disk space for this file: retry later");
  if (syscall !== undefined) return fault;
  const sentence = sentences.get(code) ?? `The form cannot be read: ${fault.message}`;
  return new ApiError("VALIDATION_ERROR", sentence, { cause: fault });
}

const sentences = new Map([
  ["FST_INVALID_JSON_FIELD_ERROR", "A part of the form with the type application/json is no JSON"],
  ["FST_FILES_LIMIT", "Send one file in a request"],
  ["FST_PARTS_LIMIT", "The form has too many parts"],
  ["FST_FIELDS_LIMIT", `The form may have at most ${MOST.fields} fields besides the file`],
]);

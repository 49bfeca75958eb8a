/** Uploaded pictures, written again. Pictures are made and judged by other libraries: pngjs, jpeg-js and omggif. */
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import jpeg from "jpeg-js";
import { GifReader, GifWriter } from "omggif";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { costOf } from "#test/support/cost.ts";
import { gif, halves, jpg, png } from "#test/support/pictures.ts";
import { decodeLzw } from "./gif-lzw.ts";
import { PictureFault } from "./picture.ts";
import { DECODER_FAILED, type RecodedPicture, recodePicture } from "./recode-picture.ts";
import { encodeWebp } from "./webp.ts";

const SECRET = "51.5007 N 0.1246 W <script>alert(1)</script>";

function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length);
  chunk.write(type, 4, "latin1");
  data.copy(chunk, 8);
  return chunk;
}

/** An Exif segment with an orientation, and a text. */
function exif(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write("MM\0*\0\0\0\b\0\u0001", "latin1");
  tiff.writeUInt16BE(0x0112, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  const body = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff, Buffer.from(SECRET)]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

/** What a viewer of GIF shows of each frame. */
function shown(file: Uint8Array) {
  const reader = new GifReader(file);
  return Array.from({ length: reader.numFrames() }, (_, at) => {
    const pixels = new Uint8Array(reader.width * reader.height * 4);
    reader.decodeAndBlitFrameRGBA(at, pixels);
    const { delay, disposal, x, y, width, height } = reader.frameInfo(at);
    return { pixels: Buffer.from(pixels), delay, disposal, x, y, width, height };
  });
}

const sizeOf = ({ kind, width, height, frames }: RecodedPicture) => [kind, width, height, frames];
const faultOf = async (file: Buffer) =>
  recodePicture(file).then(
    () => "no fault",
    (fault) => (fault instanceof PictureFault ? fault.message : `bug: ${fault}`),
  );

test("a PNG keeps its pixels and loses texts and what follows its end", async () => {
  const plain = png(40, 20);
  const text = pngChunk("tEXt", Buffer.from(`Comment\0${SECRET}`));
  const file = Buffer.concat([plain.subarray(0, 33), text, plain.subarray(33), Buffer.from(SECRET)]);
  const picture = await recodePicture(file);
  expect(sizeOf(picture)).toEqual(["png", 40, 20, 1]);
  expect(Buffer.from(picture.octets).includes("script")).toBe(false);
  expect(PNG.sync.read(Buffer.from(picture.octets)).data.equals(halves(40, 20))).toBe(true);
});

test.each([
  ["grey", 0, 8],
  ["grey of 16 bits", 0, 16],
  ["grey with alpha", 4, 8],
  ["colours of 16 bits", 6, 16],
])("a PNG in %s looks the same, and so does what is made of it", async (_what, colorType, bitDepth) => {
  const plain = png(40, 20, { colorType, inputColorType: 6, bitDepth });
  const once = await recodePicture(plain);
  const twice = await recodePicture(Buffer.from(once.octets));
  const wanted = PNG.sync.read(plain).data;
  for (const { octets } of [once, twice]) {
    // Libraries round 16 bits to 8 in two ways.
    const { data } = PNG.sync.read(Buffer.from(octets));
    const differences = data.map((octet, at) => Math.abs(octet - (wanted[at] ?? 0)));
    expect([data.length, Math.max(...differences) <= 1]).toEqual([wanted.length, true]);
  }
});

test("a JPEG is turned as its Exif says, and loses Exif and what follows its end", async () => {
  const plain = jpg(40, 20);
  const file = Buffer.concat([plain.subarray(0, 2), exif(6), plain.subarray(2), Buffer.from(SECRET)]);
  const picture = await recodePicture(file);
  expect(sizeOf(picture)).toEqual(["jpeg", 20, 40, 1]);
  expect(Buffer.from(picture.octets).includes("script")).toBe(false);
  expect(Buffer.from(picture.octets).includes("Exif")).toBe(false);
  const { data, width } = jpeg.decode(picture.octets);
  const colourAt = (x: number, y: number) => [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)];
  // Turned to the right, the left half is above.
  const [above, below] = [colourAt(10, 4), colourAt(10, 36)];
  expect((above[0] ?? 0) > 200 && (above[2] ?? 0) < 50).toBe(true);
  expect((below[0] ?? 0) < 50 && (below[2] ?? 0) > 200).toBe(true);
});

test("a WebP stays lossy or lossless", async () => {
  const pixels = { width: 40, height: 20, data: new Uint8ClampedArray(halves(40, 20)) };
  for (const isLossless of [true, false]) {
    const file = Buffer.from(await encodeWebp(pixels, { file: Buffer.alloc(0), isLossless }));
    const picture = await recodePicture(Buffer.concat([file, Buffer.from(SECRET)]));
    expect(sizeOf(picture)).toEqual(["webp", 40, 20, 1]);
    const octets = Buffer.from(picture.octets);
    expect([octets.includes("VP8L"), octets.includes("script")]).toEqual([isLossless, false]);
  }
});

test("an animated GIF shows the same frames for the same time, without comments and what follows its end", async () => {
  const plain = gif(40, 20, 7);
  const comment = Buffer.concat([
    Buffer.from([0x21, 0xfe, SECRET.length]),
    Buffer.from(SECRET),
    Buffer.from([0]),
  ]);
  const start = 13 + 4 * 3;
  const file = Buffer.concat([plain.subarray(0, start), comment, plain.subarray(start), Buffer.from(SECRET)]);
  const picture = await recodePicture(file);
  expect(sizeOf(picture)).toEqual(["gif", 40, 20, 7]);
  expect(Buffer.from(picture.octets).includes("script")).toBe(false);
  expect(shown(picture.octets)).toEqual(shown(plain));
  expect(new GifReader(picture.octets).loopCount()).toBe(3);
});

test("data hidden behind the pixels of a GIF's frame is gone", async () => {
  const plain = gif(40, 20, 1);
  // Before the empty block that ends the frame, and the trailer.
  const hidden = Buffer.concat([Buffer.from([SECRET.length]), Buffer.from(SECRET)]);
  const file = Buffer.concat([plain.subarray(0, -2), hidden, plain.subarray(-2)]);
  const picture = await recodePicture(file);
  expect(Buffer.from(picture.octets).includes("script")).toBe(false);
  expect(shown(picture.octets)).toEqual(shown(plain));
});

test("colours of a GIF that no pixel has are gone, of the common palette and of a frame's own", async () => {
  const hidden = Array.from(SECRET.slice(0, 15).matchAll(/.../gs), ([three]) =>
    Buffer.from(three).readUIntBE(0, 3),
  );
  const common = [0xff0000, 0x00ff00, 0x0000ff, ...hidden];
  const own = [0x123456, ...hidden, 0x654321, 0xabcdef];
  const buffer = Buffer.alloc(2_000);
  const writer = new GifWriter(buffer, 3, 1, { palette: [...common] });
  writer.addFrame(0, 0, 3, 1, [0, 2, 0]);
  writer.addFrame(0, 0, 3, 1, [0, 6, 0], { palette: own });
  const plain = buffer.subarray(0, writer.end());
  expect(plain.includes(SECRET.slice(0, 15))).toBe(true);
  const { octets } = await recodePicture(plain);
  expect(Buffer.from(octets).includes(SECRET.slice(0, 6))).toBe(false);
  expect(shown(octets)).toEqual(shown(plain));
});

test("pixels of GIFs are decompressed as another library does", () => {
  const pixels = fc.tuple(
    fc.integer({ min: 1, max: 8 }),
    fc.integer({ min: 1, max: 5_000 }),
    fc.infiniteStream(fc.nat(255)),
  );
  fc.assert(
    fc.property(pixels, ([bits, length, stream]) => {
      const wanted = Uint8Array.from(stream.take(length), (value) => value % 2 ** bits);
      const buffer = Buffer.alloc(length * 2 + 5_000);
      const writer = new GifWriter(buffer, length, 1, {
        palette: Array.from({ length: 2 ** bits }, () => 0),
      });
      const end = writer.addFrame(0, 0, length, 1, [...wanted]);
      const start = 13 + 3 * 2 ** bits + 10;
      const blocks: Buffer[] = [];
      for (let at = start + 1; at < end && buffer[at] !== 0; at += 1 + (buffer[at] ?? 0)) {
        blocks.push(buffer.subarray(at + 1, at + 1 + (buffer[at] ?? 0)));
      }
      expect(decodeLzw(Buffer.concat(blocks), buffer[start] ?? 0, length)).toEqual(wanted);
    }),
    { numRuns: 50 },
  );
});

test.each([
  ["png", () => png(4_100, 30)],
  ["jpeg", () => jpg(4_100, 30)],
  ["gif", () => gif(4_100, 30, 2)],
])("a wide %s is scaled down to 2,000 pixels and keeps its proportions", async (kind, make) => {
  const picture = await recodePicture(make());
  expect(sizeOf(picture)).toEqual([kind, 2_000, 15, kind === "gif" ? 2 : 1]);
  if (kind !== "png") return;
  const { data } = PNG.sync.read(Buffer.from(picture.octets));
  expect([...data.subarray(0, 4), ...data.subarray(-4)]).toEqual([255, 0, 0, 255, 0, 0, 255, 255]);
});

test("a picture that is very high is refused", async () => {
  expect(await faultOf(png(700, 16_000))).toMatch(/^The picture is 16,000 pixels high, at a width of 700/);
});

test.each([
  ["png", () => png(60, 60)],
  ["interlaced png", () => png(60, 60, { interlace: true })],
  ["jpeg", () => jpg(60, 60)],
  ["gif", () => gif(60, 60, 3)],
])("a %s that ends anywhere before its end is refused as not complete", async (_kind, make) => {
  const whole = make();
  for (const length of [8, 20, Math.floor(whole.length / 2), whole.length - 3, whole.length - 1]) {
    expect(await faultOf(whole.subarray(0, length)), `${length} of ${whole.length}`).toMatch(
      /damaged or not complete/,
    );
  }
});

/** The beginning of a PNG with this size, and data that unpacks to `megabytes`. */
function bomb(width: number, height: number, megabytes: number): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0]);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  return Buffer.concat([
    png(1, 1).subarray(0, 8),
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(Buffer.alloc(megabytes * 1024 ** 2))),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

const withSize = (file: Buffer, width: number, height: number, at: number, isLittle = false) => {
  const changed = Buffer.from(file);
  const write = isLittle ? "writeUInt16LE" : "writeUInt16BE";
  changed[write](width, at + (isLittle ? 0 : 2));
  changed[write](height, at + (isLittle ? 2 : 0));
  return changed;
};

test("a picture that claims to be huge is refused by its header, at no cost", async () => {
  const jpegFrame = jpg(60, 60).indexOf(Buffer.from([0xff, 0xc0])) + 5;
  const files = [
    bomb(50_000, 50_000, 20),
    withSize(jpg(60, 60), 50_000, 50_000, jpegFrame),
    withSize(gif(60, 60, 3), 50_000, 50_000, 6, true),
  ];
  const spent: Promise<string>[] = [];
  const cost = costOf(() => spent.push(...files.map(faultOf)));
  for (const fault of await Promise.all(spent)) {
    expect(fault).toMatch(/^The picture has 50,000 × 50,000 pixels; it may have at most 25 megapixels/);
  }
  // Decoding one of them would take minutes.
  expect(cost).toBeLessThan(costOf(() => png(1_000, 1_000)));
});

test("an animation of thousands of frames is refused before one is decoded", async () => {
  const many = gif(2, 2, 10_000);
  const large = gif(60, 60, 3);
  expect(await faultOf(many)).toMatch(/^The animation may have at most 500 frames/);
  // Frames of 5,000 × 5,000 pixels, of which two are allowed.
  const claimed = withSize(large, 5_000, 5_000, 6, true);
  for (
    let at = claimed.indexOf(0x2c);
    at > 0;
    at = claimed.indexOf(Buffer.from([0x2c, 0, 0, 0, 0, 60, 0, 60, 0]), at + 1)
  ) {
    claimed.writeUInt16LE(5_000, at + 5);
    claimed.writeUInt16LE(5_000, at + 7);
  }
  expect(await faultOf(claimed)).toMatch(/50 megapixels in all frames together/);
});

test.each([
  [
    "an SVG",
    '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
    /^SVG pictures are not taken/,
  ],
  ["HTML", "<!doctype html><p>Hi</p>", /^The file is no PNG, JPEG, GIF or WebP picture$/],
  ["HEIC", "\0\0\0\u0018ftypheic", /^HEIC and AVIF pictures are not taken/],
  ["nothing", "", /^The file is no PNG/],
  ["a GIF that is a script", "GIF89a/*\0\0*/=1;alert(1)//;", /damaged or not complete/],
])("%s is refused with a sentence", async (_name, text, sentence) => {
  expect(await faultOf(Buffer.from(text, "latin1"))).toMatch(sentence);
});

test("animated PNG, and JPEG in colours of print, are refused with what to do", async () => {
  const plain = png(4, 4);
  const animated = Buffer.concat([
    plain.subarray(0, 33),
    pngChunk("acTL", Buffer.alloc(8)),
    plain.subarray(33),
  ]);
  expect(await faultOf(animated)).toMatch(/save it as GIF/);
  const print = Buffer.from(jpg(4, 4));
  print[print.indexOf(Buffer.from([0xff, 0xc0])) + 9] = 4;
  expect(await faultOf(print)).toMatch(/save it as RGB/);
});

test("a JPEG of thousands of scans is refused", async () => {
  const plain = jpg(60, 60);
  const scan = plain.subarray(plain.indexOf(Buffer.from([0xff, 0xda])), -2);
  const file = Buffer.concat([
    plain.subarray(0, -2),
    ...Array.from({ length: 1_000 }, () => scan),
    plain.subarray(-2),
  ]);
  expect(await faultOf(file)).toMatch(/unusual form/);
});

test("a damaged file is refused, or what is made of it is a sound picture", async () => {
  const files = [png(30, 30), jpg(30, 30), gif(30, 30, 2)];
  const change = fc.tuple(fc.nat(10_000), fc.nat(255));
  const damage = fc.tuple(fc.nat(2), fc.array(change, { minLength: 1, maxLength: 5 }));
  await fc.assert(
    fc.asyncProperty(damage, async ([which, changes]) => {
      const file = Buffer.from(files[which] ?? "");
      for (const [at, value] of changes) file[at % file.length] = value;
      const picture = await recodePicture(file).catch((fault) => {
        expect(fault instanceof PictureFault || fault.message === DECODER_FAILED).toBe(true);
        return null;
      });
      if (picture === null) return;
      expect(sizeOf(await recodePicture(Buffer.from(picture.octets)))).toEqual(sizeOf(picture));
    }),
    { numRuns: 150 },
  );
}, 60_000);

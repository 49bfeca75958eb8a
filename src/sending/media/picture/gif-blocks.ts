/** Reads the blocks of a GIF (GIF89a specification): sizes, palettes and the places of the data, of which none is decoded. */
import { damaged, PictureFault, requireSize } from "./picture.ts";

const MOST_FRAMES = 500;
/** Of all frames together: 600 × 300 pixels for 40 seconds, seven times a second. */
const MOST_FRAME_PIXELS = 50_000_000;

/** The octets that begin a block (appendix A). */
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;
const GRAPHIC_CONTROL = 0xf9;
const APPLICATION = 0xff;
/** The application block by which animations are repeated. */
const LOOP = "NETSCAPE2.0";

/** The header with the logical screen (sections 17 and 18). */
const HEADER_OCTETS = 13;
const IMAGE_OCTETS = 9;

/** Colours as 0xRRGGBB: two to 256, a power of two. */
type Palette = readonly number[];

export interface GifFrame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly isInterlaced: boolean;
  /** Null for that of the file. */
  readonly palette: Palette | null;
  readonly control: GraphicControl;
  /** Where the compressed pixels begin: the code size, then blocks. */
  readonly dataStart: number;
}

/** How a frame is shown (section 23). */
interface GraphicControl {
  /** In hundredths of a second. */
  readonly delay: number;
  readonly disposal: number;
  /** The index of the transparent colour. */
  readonly transparent: number | null;
}

export interface GifBlocks {
  readonly width: number;
  readonly height: number;
  readonly palette: Palette | null;
  /** How often the animation is repeated; 0 is for ever, null is not at all. */
  readonly loop: number | null;
  readonly frames: readonly GifFrame[];
}

export function isGif(file: Buffer): boolean {
  return /^GIF8[79]a$/.test(file.toString("latin1", 0, 6));
}

/** @throws PictureFault for a file that is not complete, or too large in pixels or frames */
export function readGif(file: Buffer): GifBlocks {
  return new BlockReader(file).read();
}

/** The data of consecutive blocks up to the empty one (section 15). */
export function blocksFrom(file: Buffer, start: number): Buffer {
  const blocks: Buffer[] = [];
  for (let at = start; file[at] !== 0; at += 1 + (file[at] ?? 0)) {
    blocks.push(file.subarray(at + 1, at + 1 + (file[at] ?? 0)));
  }
  return Buffer.concat(blocks);
}

const plain: GraphicControl = { delay: 0, disposal: 0, transparent: null };

class BlockReader {
  readonly #file: Buffer;
  readonly #frames: GifFrame[] = [];
  #at = HEADER_OCTETS;
  #pixels = 0;
  #loop: number | null = null;
  /** For the next frame only. */
  #control = plain;

  constructor(file: Buffer) {
    this.#file = file;
  }

  read(): GifBlocks {
    const file = this.#file;
    if (file.length < HEADER_OCTETS) throw damaged();
    const screen = { width: file.readUInt16LE(6), height: file.readUInt16LE(8) };
    requireSize(screen.width, screen.height);
    const palette = this.#palette(file[10] ?? 0);
    for (;;) {
      const kind = this.#octet();
      if (kind === TRAILER) break;
      if (kind === EXTENSION) this.#readExtension();
      else if (kind === IMAGE) this.#readImage(screen, palette);
      else throw damaged();
    }
    if (this.#frames.length === 0) throw damaged();
    return { ...screen, palette, loop: this.#loop, frames: this.#frames };
  }

  #octet(): number {
    const octet = this.#file[this.#at];
    if (octet === undefined) throw damaged();
    this.#at += 1;
    return octet;
  }

  #take(octets: number): Buffer {
    const taken = this.#file.subarray(this.#at, this.#at + octets);
    if (taken.length < octets) throw damaged();
    this.#at += octets;
    return taken;
  }

  /** @param flags the packed fields before the palette: whether there is one, and its size */
  #palette(flags: number): Palette | null {
    if ((flags & 0x80) === 0) return null;
    const colours = this.#take(3 * 2 ** ((flags & 7) + 1));
    return Array.from({ length: colours.length / 3 }, (_, at) => colours.readUIntBE(3 * at, 3));
  }

  #skipBlocks(): void {
    for (let length = this.#octet(); length > 0; length = this.#octet()) this.#take(length);
  }

  #readExtension(): void {
    const label = this.#octet();
    const start = this.#at;
    this.#skipBlocks();
    const [first, second] = [this.#blockAt(start), this.#blockAfter(start)];
    if (label === GRAPHIC_CONTROL && first.length === 4) {
      const flags = first[0] ?? 0;
      this.#control = {
        delay: first.readUInt16LE(1),
        disposal: (flags >> 2) & 7,
        transparent: (flags & 1) === 0 ? null : (first[3] ?? 0),
      };
    } else if (label === APPLICATION && first.toString("latin1") === LOOP && second.length === 3) {
      this.#loop = second.readUInt16LE(1);
    }
  }

  /** The first block of an extension that was skipped. */
  #blockAt(start: number): Buffer {
    return this.#file.subarray(start + 1, start + 1 + (this.#file[start] ?? 0));
  }

  #blockAfter(start: number): Buffer {
    return this.#blockAt(start + 1 + (this.#file[start] ?? 0));
  }

  #readImage(screen: { readonly width: number; readonly height: number }, common: Palette | null): void {
    const image = this.#take(IMAGE_OCTETS);
    const [x, y, width, height] = [0, 2, 4, 6].map((at) => image.readUInt16LE(at)) as [
      number,
      number,
      number,
      number,
    ];
    const flags = image[8] ?? 0;
    if (width === 0 || height === 0 || x + width > screen.width || y + height > screen.height)
      throw damaged();
    this.#pixels += width * height;
    if (this.#frames.length === MOST_FRAMES || this.#pixels > MOST_FRAME_PIXELS) throw tooLong();
    const palette = this.#palette(flags);
    const colours = (palette ?? common)?.length;
    if (colours === undefined) throw damaged();
    const { transparent, ...control } = this.#control;
    this.#frames.push({
      x,
      y,
      width,
      height,
      palette,
      isInterlaced: (flags & 0x40) !== 0,
      control: {
        ...control,
        transparent: transparent !== null && transparent < colours ? transparent : null,
      },
      dataStart: this.#at,
    });
    this.#octet();
    this.#skipBlocks();
    this.#control = plain;
  }
}

function tooLong(): PictureFault {
  const pixels = MOST_FRAME_PIXELS / 1_000_000;
  return new PictureFault(
    `The animation may have at most ${MOST_FRAMES} frames, and ${pixels} megapixels in all frames together: shorten it, or scale it down`,
  );
}

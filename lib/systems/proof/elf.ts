/** Reads a shared object's machine type and exports from its file. */
import { type FileHandle, open } from 'node:fs/promises';

interface ElfHeader {
  bits: 32 | 64;
  /** e_type: 3 is a shared object. */
  type: number;
  /** e_machine, e.g. 62 for x86-64. */
  machine: number;
}

const SHARED_OBJECT = 3;
const machines: Record<number, string> = { 3: 'x86', 40: 'arm', 62: 'x64', 183: 'arm64', 243: 'riscv64', 21: 'ppc64' };

/** Parses the first 20 bytes; null if they are not the beginning of an ELF file. */
export function parseElfHeader(bytes: Buffer): ElfHeader | null {
  if (bytes.length < 20 || bytes.readUInt32BE(0) !== 0x7f454c46) return null;
  const little = bytes[5] !== 2;
  const half = (offset: number) => (little ? bytes.readUInt16LE(offset) : bytes.readUInt16BE(offset));
  return { bits: bytes[4] === 2 ? 64 : 32, type: half(16), machine: half(18) };
}

/** Why it cannot be preloaded on this machine, or null. */
export function unsuitable(header: ElfHeader | null, arch: string = process.arch): string | null {
  if (!header) return 'it is not an ELF file';
  if (header.type !== SHARED_OBJECT) return 'it is not a shared object';
  const built = machines[header.machine] ?? `ELF machine ${header.machine}`;
  return built === arch && header.bits === 64 ? null : `it is built for ${built}, this machine is ${arch}`;
}

const DYNAMIC_SYMBOLS = 11;
const SYMBOL_BYTES = 24;
/** Far more than any layer needs; a hostile file must not fill the memory. */
const MAX_TABLE = 64 * 2 ** 20;

/** Names of defined dynamic symbols, or null if the file cannot be read as a 64-bit little-endian ELF. */
export async function exportedSymbols(path: string): Promise<Set<string> | null> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const sections = await readSections(file);
    const symbols = sections.find(({ type }) => type === DYNAMIC_SYMBOLS);
    const names = symbols && sections[symbols.link];
    return symbols && names ? definedNames(await read(file, symbols), await read(file, names)) : null;
  } catch {
    return null;
  } finally {
    await file?.close();
  }
}

interface Section {
  type: number;
  link: number;
  offset: number;
  size: number;
}

async function readSections(file: FileHandle): Promise<Section[]> {
  const header = await read(file, { offset: 0, size: 64 });
  if (parseElfHeader(header)?.bits !== 64 || header[5] !== 1) return [];
  const entry = header.readUInt16LE(58);
  const count = header.readUInt16LE(60);
  if (entry < 64) return [];
  const table = await read(file, { offset: Number(header.readBigUInt64LE(40)), size: entry * count });
  return Array.from({ length: count }, (_, i) => ({
    type: table.readUInt32LE(i * entry + 4),
    offset: Number(table.readBigUInt64LE(i * entry + 24)),
    size: Number(table.readBigUInt64LE(i * entry + 32)),
    link: table.readUInt32LE(i * entry + 40),
  }));
}

function definedNames(symbols: Buffer, names: Buffer): Set<string> {
  const found = new Set<string>();
  for (let at = 0; at + SYMBOL_BYTES <= symbols.length; at += SYMBOL_BYTES) {
    const start = symbols.readUInt32LE(at);
    const end = names.indexOf(0, start);
    // Imported symbols have section 0.
    if (symbols.readUInt16LE(at + 6) !== 0 && end > start) found.add(names.toString('latin1', start, end));
  }
  return found;
}

async function read(file: FileHandle, { offset, size }: { offset: number; size: number }): Promise<Buffer> {
  if (size > MAX_TABLE) throw new Error('table too large');
  const buffer = Buffer.alloc(size);
  const { bytesRead } = await file.read(buffer, 0, size, offset);
  if (bytesRead !== size) throw new Error('file too short');
  return buffer;
}

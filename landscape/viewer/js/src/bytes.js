// Decoding of the files of a source: gzip, columns of 16-bit numbers, and variable-length integers.

/** @typedef {{points: Uint32Array, kinds: Uint8Array}} PointSet papers in ascending order */

/**
 * Decompress a file.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {Promise<Uint8Array<ArrayBuffer>>}
 */
export async function unzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Join the high and the low bytes of columns of 16-bit numbers.
 * @param {Uint8Array} bytes high bytes of the first column, its low bytes, and so on
 * @param {number} rows
 * @returns {Uint16Array[]}
 */
export function readColumns(bytes, rows) {
  const columns = [];
  for (let start = 0; start + 2 * rows <= bytes.length && rows; start += 2 * rows) {
    const column = new Uint16Array(rows);
    for (let row = 0; row < rows; row++) {
      column[row] = (bytes[start + row] << 8) | bytes[start + rows + row];
    }
    columns.push(column);
  }
  return columns;
}

/**
 * Read variable-length integers: 7 bits per byte, the lowest first; the highest bit says "continues".
 * @param {Uint8Array} bytes
 * @param {number} start
 * @param {number} end
 * @returns {number[]}
 */
export function readVarints(bytes, start, end) {
  const found = [];
  let value = 0;
  let factor = 1;
  for (let at = start; at < end; at++) {
    value += (bytes[at] & 127) * factor;
    if (bytes[at] & 128) {
      factor *= 128; // no shift, which is limited to 32 bits
    } else {
      found.push(value);
      value = 0;
      factor = 1;
    }
  }
  return found;
}

/**
 * Read increasing numbers that are stored as differences, each with a class of some bits.
 * @param {Uint8Array} bytes
 * @param {number} start
 * @param {number} end
 * @param {number} classes number of classes, a power of two
 * @returns {PointSet}
 */
export function readSet(bytes, start, end, classes) {
  const values = readVarints(bytes, start, end);
  const points = new Uint32Array(values.length);
  const kinds = new Uint8Array(values.length);
  let point = 0;
  values.forEach((value, place) => {
    point += Math.floor(value / classes);
    points[place] = point;
    kinds[place] = value % classes;
  });
  return { points, kinds };
}

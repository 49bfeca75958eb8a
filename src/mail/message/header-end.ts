/**
 * The offset after the empty line that ends the header (RFC 5322 section 2.1); lines may end with LF alone. Without such a
 * line it is the end of what is searched.
 * @param most octets that are searched
 */
export function endOfHeader(message: Buffer, most: number): number {
  const beginning = message.subarray(0, most);
  const ends = ["\n\r\n", "\n\n"].flatMap((mark) => {
    const at = beginning.indexOf(mark);
    return at < 0 ? [] : [at + mark.length];
  });
  return Math.min(beginning.length, ...ends);
}

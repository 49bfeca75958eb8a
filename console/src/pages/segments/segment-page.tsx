export function SegmentPage() {
  return null;
}

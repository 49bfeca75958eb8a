export function SegmentsPage() {
  return null;
}

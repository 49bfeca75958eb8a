/**
 * Words before a command that run it in a root file system, in mounts of its own that end with it.
 * @param user `UID:GID`
 * @param data folder that is mounted at /data; then nothing else is writable but /tmp, as with `docker run --read-only`
 */
export function inRoot(root: string, user: string, data?: string): readonly string[] {
  const script = `
    set -e
    mount --bind "$1" "$1"
    mount --rbind /dev "$1/dev"
    mount --rbind /proc "$1/proc"
    if [ -n "$2" ]; then
      mount --bind "$2" "$1/data"
      mount -t tmpfs tmpfs "$1/tmp"
      mount -o remount,bind,ro "$1"
    fi
    root=$1
    shift 2
    exec chroot --userspec=${user} "$root" "$@"`;
  return ["--mount", "sh", "-c", script, "sh", root, data ?? ""];
}

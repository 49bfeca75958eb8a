/** Sentences about files that a command cannot use, in place of the system's, such as "ENOENT: no such file or directory". */

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  ENOTDIR: "does not exist",
  EISDIR: "is a folder, and not a file",
  EACCES: "is closed to the user of this command",
  EPERM: "is closed to the user of this command",
  EROFS: "is on a disk that cannot be written",
  ENOSPC: "is on a disk that is full",
  EDQUOT: "is on a disk whose quota is used up",
  ENAMETOOLONG: "has too long a name",
  EPIPE: "was closed by its reader before the end",
};

/**
 * @param subject begins the sentence, such as "The key file a.key"
 * @param fault of the file system
 * @param advice ends it: what to do
 */
export function fileFault(subject: string, fault: unknown, advice?: string): Error {
  const code = fault instanceof Error && "code" in fault ? String(fault.code) : "";
  const message = fault instanceof Error ? fault.message : String(fault);
  const reason = reasons[code] ?? `cannot be used (${message})`;
  return new Error(`${subject} ${reason}${advice === undefined ? "" : `: ${advice}`}`, { cause: fault });
}

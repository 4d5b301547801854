/* Keeps two commands from working in one folder at the same time. */
#ifndef HM_FOLDER_LOCK_H
#define HM_FOLDER_LOCK_H

/*
 * Creates a folder unless it exists, and locks it for a command, such as "study". The lock ends
 * when *ret_lock is closed or this process ends. Without support of the file system for locks,
 * *ret_lock is 0 and the folder is not locked. Returns 0, or EXIT_USAGE with a message.
 */
int launch_folder_lock(const char *command, const char *path, int *ret_lock);
/* Ends a lock and sets it to 0. Does nothing if it is 0. */
void launch_folder_unlock(int *lock);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What a person sees of the devices: the table with the way to choose one,
 * and, where there is none, why not and what to install.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/opencl/find.h"

enum { NAME_WIDTH = 40, DRIVER_WIDTH = 12, CELL = 32 };

static void list_device(const struct found_device *device, bool is_default,
                        struct text *text);
static void list_host(struct text *text);
static void list_choices(const struct found *found, struct text *text);
static void say_why(const struct found *found, struct text *text);
static void say_folder(struct text *text);
static void say_environment(struct text *text);
static void say_remedies(const struct found *found, struct text *text);

void found_list(const struct found *found, struct text *text)
{
    const struct found_device *device;
    bool has_default = false;

    text_print(text, "  %-5s %-5s %-*s %-*s %10s %10s  %-4s  %s\n", "id",
               "type", NAME_WIDTH, "name", DRIVER_WIDTH, "driver", "memory",
               "max buffer", "fp64", "status");
    for (size_t i = 0; (device = found_at(found, i)) != NULL; i++) {
        bool is_default = !has_default && device->kind->is_default
                          && device->unfit[0] == '\0';
        list_device(device, is_default, text);
        has_default |= is_default;
    }
    list_host(text);
    list_choices(found, text);
}

/* A size as people read it: "139.7 GiB". */
static void size_print(uint64_t bytes, char room[CELL])
{
    static const char *const units[] = { "MiB", "GiB", "TiB", "PiB" };
    double size = (double)bytes / (1 << 20);
    unsigned unit = 0;

    while (size >= 1024 && unit < 3) {
        size /= 1024;
        unit++;
    }
    snprintf(room, CELL, "%.1f %s", size, units[unit]);
}

/* The first `width` columns of a name; what is cut ends in dots. */
static void name_print(const char *name, int width, char *room, size_t size)
{
    bool cut = strlen(name) > (size_t)width;
    snprintf(room, size, "%.*s%s", cut ? width - 3 : width, name,
             cut ? "..." : "");
}

/* One line a device; the default has a star. */
static void list_device(const struct found_device *device, bool is_default,
                        struct text *text)
{
    char id[CELL], name[NAME_WIDTH + 1], driver[DRIVER_WIDTH + 1];
    char memory[CELL], buffer[CELL];

    snprintf(id, sizeof id, "%u:%u", device->platform_number,
             device->device_number);
    name_print(device->name, NAME_WIDTH, name, sizeof name);
    name_print(device->driver, DRIVER_WIDTH, driver, sizeof driver);
    size_print(device->memory_bytes, memory);
    size_print(device->buffer_max_bytes, buffer);
    text_print(text, "%c %-5s %-5s %-*s %-*s %10s %10s  %-4s  %s\n",
               is_default ? '*' : ' ', id, device->kind->name, NAME_WIDTH, name,
               DRIVER_WIDTH, driver, memory, buffer,
               device->has_fp64 ? "yes" : "no",
               device->unfit[0] == '\0' ? "ok" : device->unfit);
}

/* The device that needs no OpenCL. */
static void list_host(struct text *text)
{
    text_print(text, "  %-5s %-5s %-*s %-*s %10s %10s  %-4s  %s\n", "host",
               "cpu", NAME_WIDTH, "host (without OpenCL)", DRIVER_WIDTH, "-",
               "-", "-", "yes", "ok");
}

/* A line to copy: for the first GPU that is fit, else for another device. */
static void list_choices(const struct found *found, struct text *text)
{
    const struct found_device *device, *shown = NULL;

    for (size_t i = 0; (device = found_at(found, i)) != NULL; i++) {
        if (device->unfit[0] == '\0'
            && (shown == NULL
                || (device->kind->is_best && !shown->kind->is_best)))
            shown = device;
    }
    if (shown == NULL)
        text_print(text, "choose with:  --device host   or   "
                         "VDBQ_DEVICE=host\n");
    else
        text_print(text,
                   "choose with:  --device %u:%u   or   "
                   "VDBQ_DEVICE=%u:%u   (also: cpu, gpu, auto, host, part of "
                   "a name; several: gpu:all, gpu:0,1, cpu+gpu)\n",
                   shown->platform_number, shown->device_number,
                   shown->platform_number, shown->device_number);
}

/* ---------------------------------------------------------- diagnosis -- */

void found_diagnosis(const struct found *found, struct text *text)
{
    say_why(found, text);
    say_folder(text);
    say_environment(text);
    say_remedies(found, text);
}

/* Why no device is listed. */
static void say_why(const struct found *found, struct text *text)
{
    text_print(text, "no OpenCL device found (loader: %s, platforms: %u)\n",
               found->loader_missing ? "missing" : "libOpenCL.so.1",
               found->platforms);
    if (found->loader_missing)
        text_print(text, "  vdbq runs its queries through OpenCL; its loader, "
                         "libOpenCL.so.1, is not installed.\n");
    else if (found->platforms == 0)
        text_print(text, "  vdbq runs its queries through OpenCL; no driver "
                         "(ICD) is installed, or it is hidden.\n");
    else
        text_print(text, "  a driver is installed, but it offers no "
                         "device.\n");
}

/* Whether a name ends in ".icd". */
static bool is_icd(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".icd") == 0;
}

/* Why the library that a driver's file names cannot be opened, for instance as
 * another one that it needs is missing; says nothing where it can. It stays
 * open then: not every driver outlives being closed. */
static void say_driver(const char *path, struct text *text)
{
    char library[1024] = "";
    FILE *file = fopen(path, "r");

    if (file == NULL)
        return;
    if (fgets(library, sizeof library, file) == NULL)
        library[0] = '\0';
    fclose(file);
    library[strcspn(library, "\r\n")] = '\0';
    if (dlopen(library, RTLD_LAZY | RTLD_LOCAL) == NULL)
        text_print(text, "  does not load: %s: %s\n", path, dlerror());
}

/* The same for each file of the folder. */
static void say_drivers(const char *folder, struct text *text)
{
    DIR *files = opendir(folder);
    struct dirent *file;
    char path[1024];

    while (files != NULL && (file = readdir(files)) != NULL) {
        if (is_icd(file->d_name)
            && snprintf(path, sizeof path, "%s/%s", folder, file->d_name)
                   < (int)sizeof path)
            say_driver(path, text);
    }
    if (files != NULL)
        closedir(files);
}

/* The folder in which loaders look for drivers, and what is in it. */
static void say_folder(struct text *text)
{
    const char *folder = getenv("OCL_ICD_VENDORS");
    DIR *files;
    struct dirent *file;
    unsigned count = 0;

    if (folder == NULL || folder[0] == '\0')
        folder = "/etc/OpenCL/vendors";
    text_print(text, "  looked in:    %s  (", folder);
    files = opendir(folder);
    while (files != NULL && (file = readdir(files)) != NULL) {
        if (is_icd(file->d_name))
            text_print(text, "%s%s", count++ > 0 ? ", " : "", file->d_name);
    }
    if (files == NULL)
        text_print(text, "no such folder");
    else if (count == 0)
        text_print(text, "0 *.icd files");
    text_print(text, ")\n");
    if (files != NULL)
        closedir(files);
    say_drivers(folder, text);
}

/* Variables that hide devices. */
static void say_environment(struct text *text)
{
    static const char *const names[] = {
        "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES",    "OPENCL_VENDOR_PATH",
        "POCL_DEVICES",    "CUDA_VISIBLE_DEVICES",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL)
            text_print(text,
                       "  environment:  %s=%s   <- may hide drivers; "
                       "unset it\n",
                       names[i], value);
    }
}

/* What to install, by system. */
static void say_remedies(const struct found *found, struct text *text)
{
    if (found->no_permission)
        text_print(text,
                   "  permission:   /dev/dri is closed to this user: "
                   "sudo usermod -aG render,video $USER, then log in again\n");
    text_print(text,
               "  CPU (any machine):  sudo apt install pocl-opencl-icd%s   "
               "(Fedora, conda-forge: pocl)\n"
               "  GPU:  NVIDIA: its driver's nvidia-opencl-icd | AMD: "
               "rocm-opencl-icd or mesa-opencl-icd | Intel: intel-opencl-icd\n"
               "  check with:  clinfo -l        in containers: pass the device "
               "nodes, be in group 'render' or 'video'\n"
               "  without OpenCL:  --device host   or   "
               "VDBQ_DEVICE=host\n",
               found->loader_missing ? " ocl-icd-libopencl1" : "");
}

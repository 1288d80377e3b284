/* Nodes on a network of known delay and rate, on one machine: relay NODES DELAY_NS BITS_PER_S SECONDS.
 *
 * Each node is a process with namespaces of its own (network, host name, process ids) and a TUN device "link",
 * 10.77.0.<node + 1>, host name node<node>. A switch joins them: a packet occupies the sender's link and the
 * receiver's for its bytes over the rate (0: no time), and arrives DELAY_NS after that. Full duplex, in order of
 * arrival, no losses up to QUEUE_BYTES per receiver.
 *
 * Prints {"nodes": [process ids]} when the network is up. Ends when standard input closes, or after SECONDS, and
 * prints what it has carried and how late it was. Nothing remains: devices end with this process, and each node's
 * first process with everything started in its namespace (it is the init of their process ids). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_NODES = 8, MTU = 9000, QUEUE = 4096, QUEUE_BYTES = 16 << 20 };

struct packet {
    int64_t due;
    int bytes;
    unsigned char data[MTU];
};

/* Packets to one node, in the order of their arrival: the rule above keeps it. */
struct queue {
    struct packet* ring;
    int first, count;
    int64_t bytes, free_at;
};

static struct pollfd fds[MOST_NODES + 1];
static struct queue queues[MOST_NODES];
static int64_t sending_until[MOST_NODES];
static int64_t carried, carried_bytes, dropped, late_ns, latest_ns;

static void fail(const char* what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void up(int fd, const char* device, int node) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, device, IFNAMSIZ - 1);
    if (node >= 0) {
        struct sockaddr_in* address = (struct sockaddr_in*)&request.ifr_addr;
        address->sin_family = AF_INET;
        address->sin_addr.s_addr = htonl(0x0a4d0001U + (unsigned)node);
        if (ioctl(fd, SIOCSIFADDR, &request)) {
            fail("the address of a node's device");
        }
        address->sin_addr.s_addr = htonl(0xffffff00U);
        if (ioctl(fd, SIOCSIFNETMASK, &request)) {
            fail("the net mask of a node's device");
        }
        request.ifr_mtu = MTU;
        if (ioctl(fd, SIOCSIFMTU, &request)) {
            fail("the MTU of a node's device");
        }
    }
    if (ioctl(fd, SIOCGIFFLAGS, &request)) {
        fail(device);
    }
    request.ifr_flags |= IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &request)) {
        fail(device);
    }
}

/* The node's device, from within its network namespace. */
static int device(int node) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        fail("/dev/net/tun");
    }
    strcpy(request.ifr_name, "link");
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (ioctl(fd, TUNSETIFF, &request)) {
        fail("a TUN device");
    }
    const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0) {
        fail("a socket");
    }
    up(control, "lo", -1);
    up(control, "link", node);
    close(control);
    return fd;
}

/* The node's first process: there until the relay ends, which closes the other end of `alive`. */
static void stay(int node, const int* alive) {
    char name[16], nothing;
    signal(SIGCHLD, SIG_IGN); /* the orphans that it takes leave no zombies */
    close(alive[1]);
    snprintf(name, sizeof name, "node%d", node);
    if (sethostname(name, strlen(name))) {
        fail("a separate host name");
    }
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    while (read(alive[0], &nothing, 1) < 0 && errno == EINTR) {
    }
    _exit(0);
}

static void receive(int from, int nodes, int64_t delay_ns, double ns_per_byte) {
    static unsigned char data[MTU];
    for (int many = 0; many < 64; many++) {
        const ssize_t bytes = read(fds[from].fd, data, sizeof data);
        if (bytes < 0) {
            return;
        }
        const int to = bytes < 20 || data[0] >> 4 != 4 ? -1 : data[19] - 1;
        if (to < 0 || to >= nodes || to == from || data[16] != 10 || data[17] != 77 || data[18] != 0) {
            continue; /* not of this network */
        }
        struct queue* queue = &queues[to];
        if (queue->count == QUEUE || queue->bytes + bytes > QUEUE_BYTES) {
            dropped++;
            continue;
        }
        const int64_t at = now();
        const int64_t takes = (int64_t)((double)bytes * ns_per_byte + 0.5);
        sending_until[from] = (sending_until[from] > at ? sending_until[from] : at) + takes;
        const int64_t arrives = sending_until[from] + delay_ns;
        queue->free_at = arrives > queue->free_at + takes ? arrives : queue->free_at + takes;
        struct packet* packet = &queue->ring[(queue->first + queue->count++) % QUEUE];
        packet->due = queue->free_at;
        packet->bytes = (int)bytes;
        memcpy(packet->data, data, (size_t)bytes);
        queue->bytes += bytes;
    }
}

/* Hands over what is due; when the next packet will be. */
static int64_t deliver(int nodes) {
    int64_t next = INT64_MAX;
    for (int to = 0; to < nodes; to++) {
        struct queue* queue = &queues[to];
        for (; queue->count; queue->count--, queue->first = (queue->first + 1) % QUEUE) {
            const struct packet* packet = &queue->ring[queue->first];
            const int64_t late = now() - packet->due;
            if (late < 0) {
                next = packet->due < next ? packet->due : next;
                break;
            }
            if (write(fds[to].fd, packet->data, (size_t)packet->bytes) != packet->bytes) {
                dropped++;
            }
            carried++;
            carried_bytes += packet->bytes;
            late_ns += late;
            latest_ns = late > latest_ns ? late : latest_ns;
            queue->bytes -= packet->bytes;
        }
    }
    return next;
}

int main(int argc, char** argv) {
    if (argc != 5) {
        fprintf(stderr, "relay NODES DELAY_NS BITS_PER_S SECONDS\n");
        return 2;
    }
    const int nodes = atoi(argv[1]);
    const int64_t delay_ns = atoll(argv[2]);
    const double ns_per_byte = atof(argv[3]) > 0 ? 8e9 / atof(argv[3]) : 0.0;
    if (nodes < 2 || nodes > MOST_NODES || delay_ns < 0) {
        fprintf(stderr, "2 to %d nodes, and a delay of 0 or more\n", MOST_NODES);
        return 2;
    }
    int alive[2];
    if (pipe2(alive, O_CLOEXEC)) {
        fail("a pipe");
    }
    char line[256] = "";
    for (int node = 0; node < nodes; node++) {
        if (unshare(CLONE_NEWNET)) {
            fail("a separate network namespace");
        }
        fds[node].fd = device(node);
        fds[node].events = POLLIN;
        queues[node].ring = calloc(QUEUE, sizeof *queues[node].ring);
        if (!queues[node].ring) {
            fail("memory");
        }
        /* As fork, into namespaces: unshare would nest one node's process ids in another's. */
        const pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWUTS | SIGCHLD, NULL, NULL, NULL, NULL);
        if (child < 0) {
            fail("separate process ids");
        }
        if (child == 0) {
            stay(node, alive);
        }
        snprintf(line + strlen(line), sizeof line - strlen(line), "%s%d", node ? ", " : "", (int)child);
    }
    fds[nodes].fd = STDIN_FILENO;
    fds[nodes].events = POLLIN;
    const struct sched_param most = {.sched_priority = 50};
    const int first = sched_setscheduler(0, SCHED_FIFO, &most) == 0;
    printf("{\"nodes\": [%s], \"realtime\": %s}\n", line, first ? "true" : "false");
    fflush(stdout);

    const int64_t end = now() + atoll(argv[4]) * 1000000000LL;
    while (now() < end) {
        const int64_t next = deliver(nodes);
        int64_t wait = next == INT64_MAX ? 100000000 : next - now();
        wait = wait < 0 ? 0 : wait;
        const struct timespec timeout = {wait / 1000000000, wait % 1000000000};
        if (ppoll(fds, (nfds_t)nodes + 1, &timeout, NULL) < 0 && errno != EINTR) {
            fail("waiting");
        }
        for (int node = 0; node < nodes; node++) {
            if (fds[node].revents & POLLIN) {
                receive(node, nodes, delay_ns, ns_per_byte);
            }
        }
        if (fds[nodes].revents) {
            break;
        }
    }
    printf("{\"packets\": %lld, \"bytes\": %lld, \"dropped\": %lld, \"mean_late_us\": %.1f, \"most_late_us\": %.1f}\n",
           (long long)carried, (long long)carried_bytes, (long long)dropped,
           carried ? (double)late_ns / (double)carried / 1e3 : 0.0, (double)latest_ns / 1e3);
    fflush(stdout);
    close(alive[1]);
    while (wait(NULL) > 0) {
    }
    return 0;
}

/* A program with a function that is visited often and does little, and one that is worth a record. */
#include <stdlib.h>
#include <unistd.h>
static volatile double sum;
void tiny(int i) {
    sum += i;
}
void solve(int n) {
    for (int i = 0; i < n; ++i)
        tiny(i);
}
int main(int argc, char** argv) {
    solve(argc > 1 ? atoi(argv[1]) : 1000);
    if (argc > 2)
        _exit(atoi(argv[2])); /* Score-P doesn't finish */
    return 0;
}

#!/usr/bin/env bash
# starts the network namespace, the control plane and the stand-in
set -euo pipefail
cd /work/wt/migration; D=$PWD/_output/walk; B=$PWD/_output/bin
ip netns list | grep -q '^walk' || { ip netns add walk; ip -n walk link set lo up; }
ip netns exec walk _output/plain/plain $D
nohup ip netns exec walk _output/standin/standin -kubeconfig $D/kubeconfig -dir $D/pods -images "controller=/tmp/realhnc/hnc-manager,hns-apiserver=$B/hns-apiserver,hns-propagator=$B/hns-propagator" > $D/standin.log 2>&1 & echo $! > $D/standin.pid
